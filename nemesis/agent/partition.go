package agent

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/cut"
)

// partition drops what arrives from peers, in the node's own network namespace.
type partition struct {
	agent   *agent
	active  *active
	id      string
	peers   []netip.Addr
	threads []*cut.Thread // connections that it cuts, as those of servers are
	remove  func() error
}

// probeTimeout is how long a probe across a cut is given: many round trips of a
// local network, and one retransmission of a SYN.
const probeTimeout = 1500 * time.Millisecond

func injectPartition(a *agent, s *active) (fault, error) {
	p := &partition{agent: a, active: s, id: fmt.Sprintf("fault-%d", s.arm.Fault)}
	for _, text := range s.arm.Peers {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return nil, fmt.Errorf("partition: peer %q: %w", text, err)
		}
		p.peers = append(p.peers, addr)
	}
	if s.arm.Lie {
		p.remove = func() error { return nil }
		return p, nil
	}
	p.tie()
	remove, err := cut.Apply(p.peers, cut.Options{ID: p.id})
	if err != nil {
		p.untie()
		return nil, err
	}
	p.remove = remove
	for _, t := range p.threads {
		_ = t.Pull()
	}
	return p, nil
}

// tie opens a connection to each peer that has an agent and is in reach.
func (p *partition) tie() {
	tied := make(chan *cut.Thread, len(p.peers))
	for _, peer := range p.peers {
		go func() {
			t, _ := cut.Tie(netip.AddrPortFrom(peer, cut.ProbePort).String()) // another cut, or no agent
			tied <- t
		}()
	}
	for range p.peers {
		if t := <-tied; t != nil {
			p.threads = append(p.threads, t)
		}
	}
}

func (p *partition) untie() {
	for _, t := range p.threads {
		t.Close()
	}
}

// flowLimit is how long after a heal connections are watched, beside twice the length of the
// cut. What another cut stops then is that one's.
const flowLimit = 5 * time.Second

// watchFlow records when all connections that were cut make progress again.
func (p *partition) watchFlow(healed time.Time) {
	defer p.untie()
	limit := healed.Add(2*healed.Sub(p.active.begun) + flowLimit)
	for _, t := range p.threads {
		if t.Await(limit) != nil {
			return
		}
	}
	p.agent.tellLate(p.active, history.Again, fmt.Sprintf("connections that were cut (%d) make progress again %.2f s after the heal",
		len(p.threads), time.Since(healed).Seconds()))
}

// prove: the kernel has this cut's own rule for each peer, and a probe to each
// fails. Silence alone might be the doing of another fault.
func (p *partition) prove() (string, bool) {
	ruled, dropped, err := p.rules()
	if err != nil {
		return err.Error(), false
	}
	silent := p.silent(p.proves())
	return fmt.Sprintf("%d of %d peers have a rule and %d do not answer a probe, %d packets dropped",
		ruled, len(p.peers), silent, dropped), ruled == len(p.peers) && silent == len(p.peers)
}

// proves is for how long nobody answers at the end of a cut.
func (p *partition) proves() time.Duration { return 300 * time.Millisecond }

// rules counts the peers that the kernel has a rule of this cut for, and the
// packets that these have dropped.
func (p *partition) rules() (peers int, packets uint64, err error) {
	counts, err := cut.Counts()
	for _, c := range counts {
		if c.ID == p.id {
			peers++
			packets += c.Packets
		}
	}
	return peers, packets, err
}

func (p *partition) heal() (string, error) { return "", p.remove() }

// look says how soon the peers answer again. One that does not may be cut off by
// another fault that is still in force, so that is no failure.
func (p *partition) look() string {
	begun := time.Now()
	if len(p.threads) > 0 {
		go p.watchFlow(begun)
	}
	silent := p.silent(probeTimeout)
	return fmt.Sprintf("%d of %d peers answer a probe %.0f ms after the heal",
		len(p.peers)-silent, len(p.peers), float64(time.Since(begun).Microseconds())/1000)
}

// silent counts the peers that do not answer a probe in time.
func (p *partition) silent(timeout time.Duration) int {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	errs := make(chan error, len(p.peers))
	for _, peer := range p.peers {
		go func() {
			_, err := cut.Ping(ctx, netip.AddrPortFrom(peer, cut.ProbePort).String())
			errs <- err
		}()
	}
	n := 0
	for range p.peers {
		if err := <-errs; err != nil {
			n++
		}
	}
	return n
}
