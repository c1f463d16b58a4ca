package timeline

import (
	"testing"

	"github.com/dlmtest/dlmtest/history/trace"
)

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
