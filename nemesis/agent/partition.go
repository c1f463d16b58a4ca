package agent

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/cut"
)

// partition drops what arrives from peers, in the node's own network namespace.
type partition struct {
	id     string
	peers  []netip.Addr
	remove func() error
}

// probeTimeout is how long a probe across a cut is given: many round trips of a
// local network, and one retransmission of a SYN.
const probeTimeout = 1500 * time.Millisecond

func injectPartition(_ *agent, s *active) (fault, error) {
	p := &partition{id: fmt.Sprintf("fault-%d", s.arm.Fault)}
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
	remove, err := cut.Apply(p.peers, cut.Options{ID: p.id})
	if err != nil {
		return nil, err
	}
	p.remove = remove
	return p, nil
}

// prove: the kernel has this cut's own rule for each peer, and a probe to each
// fails. Silence alone might be the doing of another fault.
func (p *partition) prove() (string, bool) {
	ruled, dropped, err := p.rules()
	if err != nil {
		return err.Error(), false
	}
	silent := p.silent(300 * time.Millisecond)
	return fmt.Sprintf("%d of %d peers have a rule and %d do not answer a probe, %d packets dropped",
		ruled, len(p.peers), silent, dropped), ruled == len(p.peers) && silent == len(p.peers)
}

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
