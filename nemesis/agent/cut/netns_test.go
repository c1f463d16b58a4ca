package cut

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/nftables"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

// node is a network namespace on a bridge of the test's own, and a thread in it.
type node struct {
	name string
	addr netip.Addr
	ns   netns.NsHandle
	work chan func()
}

// in runs f in the node's namespace. Sockets that it opens stay there.
func (n *node) in(f func()) {
	done := make(chan struct{})
	n.work <- func() { defer close(done); f() }
	<-done
}

// do runs f in the node's namespace and fails the test on its error.
func (n *node) do(t *testing.T, f func() error) {
	t.Helper()
	var err error
	n.in(func() { err = f() })
	if err != nil {
		t.Fatalf("%s: %v", n.name, err)
	}
}

// newNode starts a thread in a network namespace of its own. The thread is never
// unlocked, so it ends with the goroutine and the namespace with it.
func newNode(t *testing.T, name string) *node {
	t.Helper()
	n := &node{name: name, work: make(chan func())}
	ready := make(chan error)
	go func() {
		runtime.LockOSThread()
		var err error
		n.ns, err = netns.New()
		ready <- err
		for f := range n.work {
			f()
		}
	}()
	if err := <-ready; err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { close(n.work); _ = n.ns.Close() })
	return n
}

// cluster makes n nodes, 10.99.0.1 and up, all joined by a bridge.
func cluster(t *testing.T, n int) []*node {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root, for network namespaces")
	}
	hostIsUntouched(t)
	hub := newNode(t, "hub")
	hub.do(t, func() error { return link(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "br"}}) })
	var nodes []*node
	for i := range n {
		node := newNode(t, fmt.Sprintf("node-%d", i+1))
		node.addr = netip.AddrFrom4([4]byte{10, 99, 0, byte(i + 1)})
		hub.do(t, func() error { return plug(node, i) })
		node.do(t, func() error { return dress(node.addr) })
		nodes = append(nodes, node)
	}
	for _, n := range nodes[1:] {
		meet(t, nodes[0], n)
	}
	return nodes
}

// meet waits until two nodes reach each other. The kernel brings a new link up in
// the background; a SYN lost meanwhile would raise the connection's first
// retransmission timeout from 200 ms to 3 s.
func meet(t *testing.T, a, b *node) {
	t.Helper()
	for _, family := range []func(netip.Addr) netip.Addr{netip.Addr.Unmap, six} {
		var e *Echo
		at := netip.AddrPortFrom(family(b.addr), ProbePort).String()
		b.do(t, func() (err error) { e, err = ServeProbe(at); return err })
		a.do(t, func() error {
			ctx, cancel := context.WithTimeout(context.Background(), eventually.Most)
			defer cancel()
			_, err := Ping(ctx, at)
			return err
		})
		_ = e.Close()
	}
}

func link(l netlink.Link) error {
	if err := netlink.LinkAdd(l); err != nil {
		return err
	}
	return netlink.LinkSetUp(l)
}

// plug joins a node to the bridge by a veth pair.
func plug(n *node, i int) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = fmt.Sprintf("v%d", i)
	v := &netlink.Veth{LinkAttrs: attrs, PeerName: "eth0", PeerNamespace: netlink.NsFd(int(n.ns))}
	if err := link(v); err != nil {
		return err
	}
	br, err := netlink.LinkByName("br")
	if err != nil {
		return err
	}
	return netlink.LinkSetMaster(v, br)
}

// dress gives the node's interface its addresses, fd99::N beside 10.99.0.N.
func dress(a netip.Addr) error {
	eth, err := netlink.LinkByName("eth0")
	if err != nil {
		return err
	}
	for _, text := range []string{a.String() + "/24", six(a).String() + "/64"} {
		addr, err := netlink.ParseAddr(text)
		if err != nil {
			return err
		}
		addr.Flags = 2 // IFA_F_NODAD: usable at once
		if err := netlink.AddrAdd(eth, addr); err != nil {
			return err
		}
	}
	return netlink.LinkSetUp(eth)
}

func six(a netip.Addr) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("fd99::%d", a.As4()[3]))
}

// hostIsUntouched checks after the test that the host has no table, chain or rule
// and no link of it. What else stands in the host's ruleset may change meanwhile:
// Docker writes there whenever a network comes or goes.
func hostIsUntouched(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		c, err := nftables.New()
		if err != nil {
			t.Fatal(err)
		}
		tables, err := c.ListTables()
		for _, table := range tables {
			if table.Name == tableName || err != nil {
				t.Errorf("the host has a table %s, %v", table.Name, err)
			}
		}
		chains, err := c.ListChains()
		for _, chain := range chains {
			rules, err := c.GetRules(chain.Table, chain)
			for _, r := range rules {
				if strings.Contains(string(r.UserData), tableName) || err != nil {
					t.Errorf("a rule of a cut stands in the host's %s %s, %v", chain.Table.Name, chain.Name, err)
				}
			}
		}
		if err != nil {
			t.Error(err)
		}
		for _, name := range []string{"br", "v0", "eth0"} {
			if l, err := netlink.LinkByName(name); err == nil && l.Attrs().Index != links[name] {
				t.Errorf("the host has got a link %s", name)
			}
		}
	})
}

// links is what the host had before any test.
var links = map[string]int{}

func TestMain(m *testing.M) {
	all, _ := netlink.LinkList()
	for _, l := range all {
		links[l.Attrs().Name] = l.Attrs().Index
	}
	os.Exit(m.Run())
}
