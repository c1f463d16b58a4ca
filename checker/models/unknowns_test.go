package models

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// registerOps makes operations of words: "write 1", "read 1" and "cas 0 1" one after the other,
// with a ? behind those of unknown outcome, ! behind those that failed, and ×N for N of them.
func registerOps(t *testing.T, words string) (ops []Op) {
	t.Helper()
	at := 0
	for _, one := range strings.Split(strings.TrimSuffix(words, ", "), ", ") {
		times := 1
		if text, n, many := strings.Cut(one, "×"); many {
			if _, err := fmt.Sscan(n, &times); err != nil {
				t.Fatal(err)
			}
			one = text
		}
		for range times {
			op := Op{Type: history.OK, Process: len(ops), Call: at, Return: at + 1}
			at += 2
			text := one
			for end, typ := range map[string]history.Type{"?": history.Info, "!": history.Fail} {
				if short, found := strings.CutSuffix(text, end); found {
					text, op.Type = short, typ
				}
			}
			w := strings.Fields(text)
			if op.F = F(w[0]); op.F == CAS {
				op.Old, w = w[1], w[1:]
			}
			op.Value = w[1]
			ops = append(ops, op)
		}
	}
	return ops
}

// TestUnknowns: histories of registers with many unknown outcomes, each decided by hand: of so
// many writes of a value, or steps from one to the next, no more may be seen.
func TestUnknowns(t *testing.T) {
	step := func(n int) string { return strings.Repeat("read 1, read 2, ", n) }
	for _, c := range []struct{ name, ops, want string }{
		{"as many as were read", "write 5, write 1?×30, write 2?×30, " + step(30) + "read 2", Legal},
		{"one more", "write 5, write 1?×30, write 2?×30, " + step(31) + "read 2", Illegal},
		{"and the next", "write 5, write 1?×30, write 2?×30, " + step(30) + "read 1", Illegal},
		{"a value that nobody wrote", "write 1?×40, write 2?×40, read 9", Illegal},
		{"by steps", "write 0, cas 0 1?×20, cas 1 2?×20, cas 2 0?×20, " + strings.Repeat("read 2, read 0, ", 20) + "read 0", Legal},
		{"one step more", "write 0, cas 0 1?×20, cas 1 2?×20, cas 2 0?×20, " + strings.Repeat("read 2, read 0, ", 20) + "read 1", Illegal},
		{"another way round", "write 0, cas 0 1?×20, cas 1 2?×20, cas 2 0?×20, cas 0 2?×20, " + strings.Repeat("read 2, read 0, ", 20) + "read 1", Legal},
		{"asked for too late", "read 1, write 1?×30, read 1", Illegal},
		{"a failure needs another value", "write 0, write 1?×30, cas 0 7!, read 1", Legal},
		{"and there is none", "write 0, cas 3 1?×30, cas 0 7!, read 0", Illegal},
		{"an unknown that is needed later", "write 1?, write 0, read 1, read 1, write 0, read 0", Legal},
		{"and used once", "write 1?, write 0, read 1, write 0, read 0, read 1", Illegal},
	} {
		began := time.Now()
		if got := ordered("cas-register", Options{}, registerOps(t, c.ops), time.Minute); got != c.want {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s took %v", c.name, took)
		}
	}
	if got := ordered("cas-register", Options{}, registerOps(t, "write 5, write 1?×30, write 2?×30, "+step(30)), -1); got != "" {
		t.Errorf("without time it says %q", got)
	}
	for _, other := range []string{"write 1, read 1", "append 1?, read 1"} { // not its own
		if got := ordered("kv", Options{}, registerOps(t, other), time.Minute); got != "" {
			t.Errorf("%s: %q", other, got)
		}
	}
}

// TestUnknownsAreNotAsked: Porcupine is not asked what the search for kinds of unknown outcomes
// has decided, and the operation is named by which no order is left.
func TestUnknownsAreNotAsked(t *testing.T) {
	again := "\n3 write v=b\n3 ok write v=b\n3 read\n3 ok read v=a"
	events := script("1 write v=a\n1 info write v=a\n2 write v=a\n2 info write v=a" + strings.Repeat(again, 3))
	m, _ := Named("register")
	r, err := decide(m, Options{Ask: func(string, Options, []Op) string { t.Error("it was asked"); return Legal }}, events)
	if err != nil || r.Verdict != Violated || !strings.Contains(r.Reason, `the read "a" by process 3 that returned at line 16.`) {
		t.Errorf("%v: %s: %s", err, r.Verdict, r.Reason)
	}
}

// TestUnwritten: what nobody had asked to write is seen without a search, and named.
func TestUnwritten(t *testing.T) {
	for _, c := range []struct {
		ops  string
		want int
	}{
		{"write 1, write 1, read 1, read 2, read 3", 3},
		{"read 1, write 1", 0},
		{"write 1!, write 2, write 2, read 1", 3},
		{"write 1?, write 2, write 2, read 1", -1},
		{"write 1, cas 2 3, write 1", 1},
		{"write 1, cas 2 2, write 1", 1},
		{"write 1, cas 2 3!, cas 1 4, read 4", -1},
		{"append 1, read 7", -1},
	} {
		if got := unwritten("", registerOps(t, c.ops)); got != c.want {
			t.Errorf("%s: %d, want %d", c.ops, got, c.want)
		}
	}
	events := script("1 write v=a\n1 ok write v=a\n1 write v=a\n1 ok write v=a\n2 cas v=c old=b\n2 ok cas v=c old=b")
	m, _ := Named("cas-register")
	r, err := decide(m, Options{Ask: func(string, Options, []Op) string { t.Error("it was asked"); return Legal }}, events)
	if want := `No order explains the cas "c" by process 2 that returned at line 6 from "b": nobody had asked to write that by then.`; err != nil || r.Reason != want {
		t.Errorf("%v: %s, want %s", err, r.Reason, want)
	}
}

// TestUnknownsAgree: both ways to go through the places say what Porcupine says of random histories.
func TestUnknownsAgree(t *testing.T) {
	searches := []func(*unknowns, time.Time) string{(*unknowns).deep, (*unknowns).broad}
	of := shapes[slices.IndexFunc(shapes, func(s shape) bool { return s.model == "cas-register" })]
	said := map[string]int{}
	checks(t, 2000)
	rapid.Check(t, func(t *rapid.T) {
		events := random(t, of, rapid.IntRange(2, 9).Draw(t, "operations"))
		m, _ := Named("cas-register")
		for _, ops := range Ops(m, Options{}, events) {
			ops = slices.DeleteFunc(ops, func(op Op) bool { return (&Options{}).silent(op.F, op.Type, op.Value) })
			u := newUnknowns(ops)
			if u == nil {
				continue
			}
			want := Consult("cas-register", Options{}, ops, time.Second)
			for i, search := range searches {
				u.begin("")
				if got := search(u, time.Now().Add(time.Minute)); got != want && (want == Legal || want == Illegal) {
					t.Fatalf("search %d: %s, Porcupine %s:\n%s", i, got, want, text(events))
				}
			}
			said[want]++
		}
	})
	if said[Legal] == 0 || said[Illegal] == 0 {
		t.Errorf("too few of a kind: %v", said)
	}
}
