package agent

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// An agent that was kept from running, and is asked for its end before its heart beats
// again, tells of the stall first: it may be what a violation comes of.
func TestStallAtTheEndIsNoted(t *testing.T) {
	var said bytes.Buffer
	a := &agent{name: "client-1", out: newOut(&said)}
	a.beats = &heart{stalled: a.stalled}
	a.beats.limit(time.Second)
	a.beats.last -= int64(3 * time.Second)
	a.endRecords(Message{Re: 1})
	a.beats.look() // no gap any more, and nothing comes after the end
	a.out.close()
	lines := strings.Split(strings.TrimSpace(said.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], `"f":"stall"`) || !strings.Contains(lines[1], `"end":{"ops":1}`) {
		t.Errorf("said %s", &said)
	}
}

// The beats are as close as the gaps that are to be reported need them, so that none that is an eighth longer is missed.
func TestPace(t *testing.T) {
	for least, want := range map[time.Duration]time.Duration{0: idleBeat, 30 * time.Millisecond: leastBeat, 250 * time.Millisecond: 62500 * time.Microsecond} {
		if got := PaceOf(least); got != want {
			t.Errorf("gaps of %v: each %v, want %v", least, got, want)
		}
	}
	for _, least := range []time.Duration{75 * time.Millisecond, 125 * time.Millisecond, time.Second} {
		stalled := least + least/8 // from right after a beat, and then the next one comes at once
		if gap := stalled - PaceOf(least); !Missed(gap, least) {
			t.Errorf("gaps of %v: one of %v is missed", least, stalled)
		}
		if stalled := least - least/8; Missed(stalled-time.Nanosecond, least) { // from right before one
			t.Errorf("gaps of %v: one of %v is told", least, stalled)
		}
	}
	told := make(chan time.Duration, 100)
	h := startHeart(func(_ int64, gap time.Duration) { told <- gap })
	defer h.tick.Stop()
	h.limit(time.Nanosecond) // each beat is late by that
	for range 3 {
		select {
		case gap := <-told:
			if gap < 0 {
				t.Errorf("a gap of %v", gap)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("it does not beat")
		}
	}
}
