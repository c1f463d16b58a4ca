package agent

import (
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// What comes without an end is read ever more seldom, what comes now and then soon, and a pipe that fills up in time.
func TestPauses(t *testing.T) {
	g := &gatherer{pause: gatherTime}
	now := time.Now()
	for i, c := range []struct {
		after time.Duration
		bytes int
		want  time.Duration
	}{
		{time.Second, 200, gatherTime}, {gatherTime, 200, 2 * gatherTime}, {2 * gatherTime, 200, 4 * gatherTime}, {time.Second, 200, gatherTime},
		{gatherMost, 200, 2 * gatherTime}, {gatherMost, 200, 4 * gatherTime}, {gatherMost, 200, 8 * gatherTime}, {gatherMost, 200, gatherMost},
		{gatherMost, 200, gatherMost}, {gatherMost, gatherFull + 1, gatherMost / 2}, {time.Second, gatherSize, gatherMost / 4},
	} {
		now = now.Add(c.after)
		if g.came(c.bytes, now); g.pause != c.want {
			t.Errorf("read %d: a pause of %v, want %v", i+1, g.pause, c.want)
		}
	}
}

// pausing is a gatherer that would not read again for an hour.
func pausing(t *testing.T, hurry bool) (*gatherer, *os.File) {
	g, w, err := gather(func() bool { return hurry })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = g.Close(), w.Close() })
	g.last, g.pause = time.Now(), time.Hour
	return g, w
}

// Who waits at a checkpoint is seen at once: where one is armed there is no pause, and its arming ends one.
func TestNoPauseBeforeACheckpoint(t *testing.T) {
	for _, hurry := range []bool{true, false} {
		g, w := pausing(t, hurry)
		if _, err := w.WriteString("{}\n"); err != nil {
			t.Fatal(err)
		}
		if !hurry {
			time.AfterFunc(10*time.Millisecond, g.atOnce)
		}
		if n, err := g.Read(make([]byte, 100)); n != 3 || err != nil {
			t.Errorf("%d bytes, %v", n, err)
		}
	}
}

// What a child printed before its end is read after it, however much it was and however seldom is read.
func TestAllThatWasPrinted(t *testing.T) {
	g, w := pausing(t, false)
	text := strings.Repeat(`{"op":{}}`+"\n", gatherSize/10)
	go func() { _, _ = w.WriteString(text); _ = w.Close(); g.atOnce() }()
	if got, err := io.ReadAll(g); string(got) != text || err != nil {
		t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
	}
}
