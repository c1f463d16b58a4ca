package adapter

import (
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
)

// ledger is a session that writes down what it is told, and whose locks outlive it.
type ledger struct {
	mu    sync.Mutex
	lines []string
}

func (l *ledger) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
}

func (l *ledger) Acquire(_ context.Context, a Ask) (*Grant, error) {
	return &Grant{State: a.Key}, nil
}

func (l *ledger) Release(ctx context.Context, g *Grant) error {
	key := g.State.(string)
	l.add("release " + key)
	if key == "hangs" {
		<-ctx.Done()
	}
	return nil
}

func (l *ledger) Close() error { l.add("close"); return nil }

// What nobody gave back is given back at close, once, before the session ends; a release
// that was asked for, whatever came of it, and one that hangs stop nothing.
func TestCloseGivesBackWhatIsHeld(t *testing.T) {
	l := &ledger{}
	in, ask := io.Pipe()
	answers, out := io.Pipe()
	go func() {
		defer out.Close()
		_ = Serve(Adapter{Open: func(context.Context, Config, Tell) (Session, error) { return l, nil }}, in, out)
	}()
	heard := make([]byte, 4096)
	for _, request := range []string{
		`{"id":1,"do":"open"}`,
		`{"id":2,"do":"acquire","key":"kept"}`,
		`{"id":3,"do":"acquire","key":"given"}`,
		`{"id":4,"do":"acquire","key":"hangs"}`,
		`{"id":5,"do":"release","grant":"g2"}`,
		`{"id":6,"do":"close"}`,
	} {
		_, _ = io.WriteString(ask, request+"\n")
		n, err := answers.Read(heard)
		if err != nil || !strings.Contains(string(heard[:n]), `"ok"`) {
			t.Fatalf("%s: %s, %v", request, heard[:n], err)
		}
	}
	_ = ask.Close()
	if len(l.lines) != 4 || l.lines[0] != "release given" || l.lines[3] != "close" ||
		!slices.Contains(l.lines, "release kept") || !slices.Contains(l.lines, "release hangs") {
		t.Errorf("%q", l.lines)
	}
}

// A grant, or a session, that is said to be lost is nobody's to give back: the key may be
// another's by now.
func TestCloseLeavesWhatIsLost(t *testing.T) {
	for name, whole := range map[string]bool{"grant": false, "session": true} {
		l, g := &ledger{}, &Grant{State: "k"}
		s := &server{held: map[*Grant]bool{g: true}, names: map[*Grant]string{g: "g1"}, out: io.Discard}
		of := g
		if whole {
			of = nil
		}
		s.tell("suspended", of, "cut off")
		s.tell("lost", of, "expired")
		if s.giveBack(l); len(l.lines) > 0 {
			t.Errorf("%q of a %s that is lost", l.lines, name)
		}
	}
}
