package timeline

import (
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history/trace"
)

func TestFaultsInWords(t *testing.T) {
	struck := func(kind string, targets ...string) *Episode {
		e := &Episode{Kind: kind}
		for _, x := range targets {
			e.Victims = append(e.Victims, &trace.Fault{Kind: kind, Target: x})
		}
		return e
	}
	parted := func(cuts ...string) *Episode { // "victim: peers that it drops"
		e := &Episode{Kind: "partition"}
		for _, c := range cuts {
			who, from, _ := strings.Cut(c, ": ")
			e.Victims = append(e.Victims, &trace.Fault{Target: who, Cut: strings.Fields(from)})
		}
		return e
	}
	isClient := func(node string) bool { return strings.HasPrefix(node, "client") }
	for _, c := range []struct {
		e           *Episode
		begin, ends string
	}{
		{struck("pause", "client-1"), "client-1 is paused: none of its threads runs.", "client-1 runs again, after 2 s."},
		{struck("pause", "etcd-1", "etcd-2"), "etcd-1 and etcd-2 are paused: none of their threads runs.", "etcd-1 and etcd-2 run again, after 2 s."},
		{struck("stall-worker", "client-1"), "The work of client-1 stops; its other threads run.", "The work of client-1 goes on, after 2 s."},
		{struck("kill", "client-1"), "client-1 is killed.", ""},
		{struck("kill", "etcd-1"), "etcd-1 is killed.", "etcd-1 is started again, after 2 s."},
		{parted("client-1: redis-1", "redis-1: client-1"), "client-1 and redis-1 are cut off from each other.", "The partition ends, after 2 s."},
		{parted("etcd-2: etcd-1", "etcd-1: etcd-2 etcd-3", "etcd-3: etcd-1"), "etcd-1 is cut off from etcd-2 and etcd-3.", "The partition ends, after 2 s."},
		{parted("a-1: b-1 b-2", "a-2: b-1 b-2", "b-1: a-1 a-2", "b-2: a-1 a-2"), "a-1 and a-2 are cut off from b-1 and b-2.", "The partition ends, after 2 s."},
		{parted("etcd-1: etcd-2 etcd-3"), "etcd-1 no longer hears from etcd-2 and etcd-3.", "The partition ends, after 2 s."},
		{parted("etcd-2: etcd-1", "etcd-3: etcd-1"), "etcd-2 and etcd-3 no longer hear from etcd-1.", "The partition ends, after 2 s."},
		{parted("n-1: n-3", "n-2: n-4", "n-3: n-5 n-1", "n-4: n-2", "n-5: n-3"), "The network is parted between n-1 to n-5.", "The partition ends, after 2 s."},
		{struck("partition", "etcd-1", "etcd-2"), "The network is parted between etcd-1 and etcd-2.", "The partition ends, after 2 s."},
		{struck("partition", "etcd-1"), "etcd-1 is cut off from others.", "The partition ends, after 2 s."},
		{struck("clock-step", "redis-1"), "Clock-step begins on redis-1.", "The clock-step of redis-1 ends, after 2 s."},
	} {
		if got := c.e.Begins(); got != c.begin {
			t.Errorf("begins: %q, want %q", got, c.begin)
		}
		if got := c.e.Ends("2 s", isClient); got != c.ends {
			t.Errorf("ends: %q, want %q", got, c.ends)
		}
	}
}

func TestLinkWords(t *testing.T) {
	for _, c := range []struct{ kind, begins, ends string }{
		{"hold-request", "What client-1 sends is held up on its link.", "What client-1 has sent goes on its way, after 2 s."},
		{"latency", "The links of client-1 get slow.", "The links of client-1 are fast again, after 2 s."},
		{"cut-link", "The link of client-1 is cut.", ""},
	} {
		e := &Episode{Kind: c.kind, Victims: []*trace.Fault{{Target: "client-1"}}}
		if begins, ends := e.Begins(), e.Ends("2 s", func(string) bool { return true }); begins != c.begins || ends != c.ends {
			t.Errorf("%s: %q, %q", c.kind, begins, ends)
		}
	}
	if got, want := Meanwhile("blackhole"), "while its links deliver nothing"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
