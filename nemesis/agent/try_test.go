package agent

import (
	"os"
	"strings"
	"testing"
	"time"
)

// A program that ends right after its start is traced to its end: its threads die in
// the middle of their begin, and each must be taken note of.
func TestTrialOfClocks(t *testing.T) {
	a := &agent{}
	for i := range 50 {
		done := make(chan error, 1)
		go func() { done <- a.tryBend(&Child{Argv: []string{os.Args[0], "trial"}}) }()
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("trial %d does not end", i)
		}
	}
}

// What does not work is said before anything is started.
func TestTrialsThatFail(t *testing.T) {
	r := startAgent(t)
	for _, c := range []struct {
		need  string
		child Child
		want  string
	}{
		{NeedNft, Child{}, "the host's own network namespace"},
		{NeedFuse, Child{Data: "/there/is/no/folder"}, "/there/is/no/folder"},
		{NeedTrace, Child{Argv: []string{"/no/such/program"}}, "/no/such/program"},
		{NeedTrace, Child{Argv: []string{"false"}}, "exit status 1"},
		{"luck", Child{}, "luck"},
	} {
		if m := r.do(Command{Do: Try, Need: c.need, Child: &c.child}); !strings.Contains(m.Error, c.want) {
			t.Errorf("%s: %q does not say %q", c.need, m.Error, c.want)
		}
	}
	if m := r.do(Command{Do: Try, Need: NeedFuse, Child: &Child{}}); m.Error != "" {
		t.Errorf("a node without data needs no file system: %s", m.Error)
	}
	if m := r.do(Command{Do: Sync}); m.Error != "" {
		t.Errorf("a node without a file system has nothing to sync: %s", m.Error)
	}
}
