package agent

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// An agent that was kept from running, and is asked for its end before its heart beats
// again, tells of the stall first: it may be what a violation comes of.
func TestStallAtTheEndIsNoted(t *testing.T) {
	var said bytes.Buffer
	a := &agent{name: "client-1", out: newOut(&said)}
	a.beats = &heart{stalled: a.stalled, last: history.Raw() - int64(3*time.Second)}
	a.beats.limit(time.Second)
	a.endRecords(Message{Re: 1})
	a.beats.look() // no gap any more, and nothing comes after the end
	a.out.close()
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"f":"stall"`) || !strings.Contains(lines[1], `"end":{"ops":1}`) {
		t.Errorf("said %s", &said)
	}
}
