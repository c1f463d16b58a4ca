package models

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// TestMain makes the test binary its own oracle, without the memory limit.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "oracle" {
		in := bufio.NewReader(os.Stdin)
		model, _ := in.ReadString('\n')
		fmt.Println(Answer(strings.TrimSpace(model), in))
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// script reads events from words: "1 acquire" calls, "1 ok acquire" ends, and
// of=value words follow: o(wner), t(oken), l(ease), v(alue), old, k(ey), at.
func script(text string) (events []Event) {
	for i, line := range strings.Split(strings.TrimSpace(text), "\n") {
		e := Event{Line: i + 1, Type: history.Invoke}
		words := strings.Fields(line)
		_, _ = fmt.Sscan(words[0], &e.Process)
		switch typ := history.Type(words[1]); typ {
		case history.OK, history.Fail, history.Info, history.Note:
			e.Type, words = typ, words[1:]
		}
		e.F = F(words[1])
		for _, word := range words[2:] {
			name, value, _ := strings.Cut(word, "=")
			switch name {
			case "o":
				e.Owner = value
			case "k":
				e.Key = value
			case "v":
				e.Value = value
			case "old":
				e.Old = value
			case "t":
				_, _ = fmt.Sscan(value, &e.Token)
			case "l":
				_, _ = fmt.Sscan(value, &e.Lease)
			case "at":
				_, _ = fmt.Sscan(value, &e.Time)
			}
		}
		events = append(events, e)
	}
	return events
}

func TestBrokenAssumptions(t *testing.T) {
	for _, c := range []struct{ name, model, text, want string }{
		{"two pending", "mutex", "1 acquire\n1 release", "line 2: process 1 calls release while its acquire is pending"},
		{"retired", "mutex", "1 acquire\n1 info acquire\n1 acquire", "line 3: process 1 goes on after an outcome that is unknown"},
		{"retired process 0", "mutex", "0 acquire\n0 info acquire\n0 ok acquire", "line 3: process 0 goes on"},
		{"end without call", "mutex", "1 ok acquire", "line 1: process 1 ends acquire without having called it"},
		{"ended twice", "mutex", "1 acquire\n1 ok acquire\n1 ok acquire", "line 3: process 1 ends acquire without"},
		{"other end", "mutex", "1 acquire\n1 ok release", "line 2: process 1 ends release, but called acquire"},
		{"other key", "mutex", "1 acquire k=a\n1 ok acquire k=b", `line 2: process 1 ends on "b" what it called on "a"`},
		{"strange operation", "mutex", "1 read", `line 1: "read" is no operation of mutex`},
		{"strange end", "mutex", "1 acquire\n1 note acquire", `line 2: "note" is not how an operation ends`},
		{"clock back", "mutex", "1 acquire at=5\n1 ok acquire at=4", "line 2: the clock goes back from 5 to 4"},
		{"clock below zero", "mutex", "1 acquire at=-1", "line 1: the clock goes back from 0 to -1"},
		{"owner busy", "mutex", "1 acquire o=x\n2 acquire o=x", "line 2: x calls acquire while another operation of that owner is pending"},
		{"owner goes on after a release", "mutex", "1 acquire o=x\n1 ok acquire o=x\n1 release o=x\n1 info release o=x\n2 release o=x", "line 5: x goes on after a release of unknown outcome"},
		{"owner goes on as its answer tells", "mutex", "1 release o=x\n1 info release o=x\n2 acquire\n2 ok acquire o=x\n3 acquire\n3 ok acquire o=y", "line 4: x goes on after a release of unknown outcome"},
		{"owner retired", "try", "1 acquire o=x\n1 info acquire o=x\n2 release o=x", "line 3: owner x is used again"},
		{"owner answered retired", "rwlock", "1 acquire o=x\n1 info acquire o=x\n2 acquire\n2 ok acquire o=x", "line 4: owner x is used again"},
		{"owner answered busy", "mutex", "1 acquire o=x\n2 acquire\n2 ok acquire o=x", "line 3: owner x is used again"},
		{"owner changes", "mutex", "1 acquire o=x\n1 ok acquire o=y", `line 2: acquire for owner "x" is answered for owner "y"`},
		{"release answered for another", "mutex", "1 acquire o=x\n1 ok acquire o=x\n1 release o=x\n1 ok release o=y", `line 4: release for owner "x" is answered for owner "y"`},
		{"no token", "fenced-mutex", "1 acquire\n1 ok acquire", "line 2: a grant without a token"},
		{"token below 1", "fenced-mutex", "1 acquire\n1 ok acquire t=-3", "line 2: a grant without a token, or with one below 1 (-3)"},
		{"no lease", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1", "line 2: a grant without a lease"},
		{"no lease, windows", "lease-windows", "1 acquire at=1\n1 ok acquire at=2", "line 2: a grant without a lease"},
		{"negative lease", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=-5", "line 2: a grant without a lease"},
		{"renewal without a lease", "lease", "1 extend at=1\n1 ok extend at=2", "line 2: a grant without a lease"},
		{"renewal beside its release", "lease", "1 acquire at=1 o=x\n1 ok acquire at=2 t=1 l=9 o=x\n2 extend at=3 o=x\n1 release at=3 o=x", "line 4: x calls release while another operation of that owner is pending"},
		{"renewal by one who does not know", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=9\n1 extend at=3\n1 info extend at=4\n1 release at=5", "line 5: process 1 goes on"},
		{"renewal of a register", "register", "1 extend", `line 1: "extend" is no operation of register`},
		{"renewal of a fenced register", "fenced-register", "1 extend", `line 1: "extend" is no operation of fenced-register`},
		{"no time", "lease", "1 acquire", "line 1: an event without a time"},
		{"no time, windows", "lease-windows", "1 acquire", "line 1: an event without a time"},
		{"value twice", "fenced-register", "1 write v=a t=1\n2 write v=a t=2", `line 2: value "a" is written twice`},
		{"value of the start", "fenced-register", "1 write t=1", `line 1: value "" is written twice, or is there at first`},
		{"write without token", "fenced-register", "1 write v=a", "line 1: a write without a token"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := Named(c.model)
			r, err := decide(m, Options{}, script(c.text))
			if err == nil && len(r.Unjudged) == 1 { // its key, for there may be others
				err = errors.New(r.Unjudged[0])
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Fatalf("error %v, want %s", err, c.want)
			}
			if r.Verdict != Unknown || !strings.Contains(r.Reason, c.want) {
				t.Errorf("result %s: %s", r.Verdict, r.Reason)
			}
		})
	}
}

func TestErrorStays(t *testing.T) {
	d := newMutex(Options{})
	first := d.Add(Event{Line: 3, Process: 1, Type: history.OK, F: Acquire})
	if again := d.Add(Event{Line: 4, Process: 1, Type: history.Invoke, F: Acquire}); first == nil || !errors.Is(again, first) {
		t.Errorf("then %v, want %v", again, first)
	}
}

func TestDecides(t *testing.T) {
	for _, c := range []struct {
		name, model, text string
		o                 Options
		want              Verdict
		reason            string
		events            []int // of the first violation, by line
	}{
		{"empty", "mutex", "", Options{}, Unknown, "the history is empty", nil},
		{"nothing returned", "mutex", "1 acquire\n2 acquire\n2 info acquire", Options{}, Unknown, "no operation is known to have happened", nil},
		{"pair", "mutex", "1 acquire\n2 acquire\n1 ok acquire\n2 ok acquire", Options{}, Violated, "process 2 was granted at line 4 while process 1 held it since line 3.", []int{1, 2, 3, 4}},
		{"keys apart", "mutex", "1 acquire k=a\n2 acquire k=b\n1 ok acquire k=a\n2 ok acquire k=b", Options{}, Holds, "2 operations", nil},
		{"second key", "mutex", "1 acquire k=b\n1 ok acquire k=b\n2 acquire k=a\n2 ok acquire k=a\n3 acquire k=b\n3 ok acquire k=b", Options{}, Violated, `process 3 was granted "b" at line 6 while process 1 held it since line 2.`, []int{1, 2, 5, 6}},
		{"same owner, two keys", "mutex", "1 acquire k=a o=x\n1 ok acquire k=a o=x\n1 acquire k=b o=x\n1 ok acquire k=b o=x\n1 release k=a o=x\n1 ok release k=a o=x", Options{}, Holds, "3 operations", nil},
		{"named by the answer", "mutex", "1 acquire\n1 ok acquire o=g1\n2 release o=g1\n2 ok release o=g1\n1 acquire\n1 ok acquire o=g2", Options{}, Holds, "3 operations", nil},
		{"named by the answer, bad", "mutex", "1 acquire\n1 ok acquire o=g1\n2 acquire\n2 ok acquire o=g2", Options{}, Violated, "g2 was granted at line 4 while g1 held it since line 2.", []int{1, 2, 3, 4}},
		{"not held", "mutex", "1 release\n1 ok release", Options{}, Violated, "process 1 gave back at line 2 what it did not hold.", []int{1, 2}},
		{"failed release", "mutex", "1 acquire\n1 ok acquire\n1 release\n2 acquire\n2 ok acquire\n1 fail release", Options{}, Violated, "process 2 was granted at line 5 while process 1 held it since line 2.", []int{1, 2, 4, 5}},
		{"found late, first all the same", "mutex", "1 acquire\n1 ok acquire\n1 release\n2 acquire\n2 ok acquire\n3 acquire\n3 ok acquire\n1 fail release", Options{}, Violated, "process 2 was granted at line 5 while process 1 held it since line 2.", []int{1, 2, 4, 5}},
		{"two releases fail", "semaphore", "1 acquire\n1 ok acquire\n2 acquire\n2 ok acquire\n1 release\n2 release\n3 acquire\n3 ok acquire\n1 fail release\n2 fail release", Options{Permits: 2}, Violated, "process 3 was granted at line 8 while process 2 held it since line 4 and process 1 held it since line 2.", []int{1, 2, 3, 4, 7, 8}},
		{"no permits given", "semaphore", "1 acquire\n1 ok acquire\n2 acquire\n2 ok acquire", Options{}, Violated, "process 2", []int{1, 2, 3, 4}},
		{"writer beside reader", "rwlock", "1 acquire-read\n1 ok acquire-read\n2 acquire-read\n2 ok acquire-read\n3 acquire\n3 ok acquire", Options{}, Violated, "process 3 was granted at line 6 while process 2 held it since line 4.", []int{3, 4, 5, 6}},
		{"reader beside writer", "rwlock", "3 acquire\n3 ok acquire\n1 acquire-read\n1 ok acquire-read", Options{}, Violated, "process 1 was granted at line 4 while process 3 held it since line 2.", []int{1, 2, 3, 4}},
		{"reentrant token", "reentrant", "1 acquire\n1 ok acquire t=1\n1 acquire\n1 ok acquire t=2", Options{}, Violated, "process 1 took again at line 4 and got token 2; its hold since line 2 has token 1.", []int{1, 2, 3, 4}},
		{"token falls", "fenced-mutex", "1 acquire\n1 ok acquire t=2\n1 release\n1 ok release\n2 acquire\n2 ok acquire t=2", Options{}, Violated, "process 2 was granted at line 6 with token 2, which is not above 2 of process 1 at line 2.", []int{1, 2, 5, 6}},
		{"refused though free", "try", "1 try\n1 fail try\n2 acquire\n2 ok acquire", Options{}, Violated, "process 1 was refused at line 2 as if another held it, but nobody did since before line 1.", []int{1, 2}},
		{"refused by itself", "try", "1 acquire\n1 ok acquire\n1 try\n1 fail try", Options{}, Violated, "process 1 was refused at line 4 as if another held it, but held it itself since line 2.", []int{1, 2, 3, 4}},
		{"refused in a gap", "try", "2 acquire\n2 ok acquire\n2 release\n2 ok release\n1 try\n1 fail try\n2 acquire\n2 ok acquire", Options{}, Violated, "process 1 was refused at line 6", []int{5, 6}},
		{"refused after the last", "try", "2 acquire\n2 ok acquire\n2 release\n2 ok release\n1 try\n1 fail try", Options{}, Violated, "process 1 was refused at line 6", []int{5, 6}},
		{"refused for one that may have come", "try", "3 acquire\n2 acquire\n2 ok acquire\n2 release\n2 ok release\n1 try\n1 fail try\n4 acquire\n3 info acquire", Options{}, Holds, "", nil},
		{"first of those that may have come", "try", "3 acquire\n2 acquire\n2 ok acquire\n2 release\n2 ok release\n1 try\n1 fail try\n4 acquire\n4 info acquire\n3 info acquire", Options{}, Holds, "", nil},
		{"first that may have come ends first", "try", "3 acquire\n3 info acquire\n2 acquire\n2 ok acquire\n2 release\n2 ok release\n1 try\n1 fail try\n4 acquire\n4 info acquire", Options{}, Holds, "", nil},
		{"two late", "mutex", "1 acquire\n1 ok acquire\n1 release\n2 acquire\n2 ok acquire\n2 release\n2 ok release\n3 acquire\n3 ok acquire\n1 fail release", Options{}, Violated, "process 2 was granted at line 5 while process 1 held it since line 2.", []int{1, 2, 4, 5}},
		{"late reader", "rwlock", "1 acquire\n1 ok acquire\n1 release\n2 acquire-read\n2 ok acquire-read\n1 fail release", Options{}, Violated, "process 2 was granted at line 5 while process 1 held it since line 2.", []int{1, 2, 4, 5}},
		{"late writer", "rwlock", "1 acquire-read\n1 ok acquire-read\n1 release-read\n2 acquire\n2 ok acquire\n1 fail release-read", Options{}, Violated, "process 2 was granted at line 5 while process 1 held it since line 2.", []int{1, 2, 4, 5}},
		{"late reader beside readers", "rwlock", "3 acquire\n3 ok acquire\n3 release\n1 acquire-read\n1 ok acquire-read\n1 release-read\n2 acquire-read\n2 ok acquire-read\n1 fail release-read\n3 ok release", Options{}, Holds, "", nil},
		{"nobody gives back", "ownerless", "1 acquire\n1 ok acquire\n2 acquire\n2 ok acquire", Options{}, Violated, "process 2 was granted at line 4, when 1 of 1 permits were out and nobody was giving one back.", []int{3, 4}},
		{"nobody took", "ownerless", "1 release\n1 ok release", Options{}, Violated, "process 1 gave back at line 2, when nobody held it", []int{1, 2}},
		{"needed what failed", "ownerless", "1 acquire\n1 ok acquire\n3 release\n2 acquire\n2 ok acquire\n3 fail release", Options{}, Violated, "What returned at line 5 needed the release of process 3, which failed at line 6.", []int{3, 4, 5, 6}},
		{"lost lease, strictly", "mutex", lostLease, Options{}, Violated, "process 2 was granted at line 4", []int{1, 2, 3, 4}},
		{"lost lease", "lease", lostLease, Options{}, Holds, "", nil},
		{"lost lease, untimed", "lease-untimed", lostLease, Options{}, Holds, "", nil},
		{"lost lease, windows", "lease-windows", lostLease, Options{}, Unknown, "no two grants certainly overlap", nil},
		{"granted too early", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=3\n2 ok acquire at=10 t=2 l=10", Options{}, Violated, "process 2 was granted at line 4, 1 ns before the grant of process 1 (line 2, token 1) can have ended.", []int{1, 2, 3, 4}},
		{"granted in time", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=3\n2 ok acquire at=11 t=2 l=10", Options{}, Holds, "", nil},
		{"one lease for all", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1\n2 acquire at=3\n2 ok acquire at=11 t=2", Options{Lease: 11}, Violated, "process 2 was granted at line 4, 1 ns", []int{1, 2, 3, 4}},
		{"chain", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=2\n3 acquire at=2\n2 ok acquire at=12 t=2 l=10\n3 ok acquire at=20 t=3 l=10", Options{}, Violated, "process 3 was granted at line 6, 1 ns before the grant of process 2 (line 5, token 2) can have ended.", []int{1, 2, 3, 4, 5, 6}},
		{"chain with release", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=2\n3 acquire at=2\n1 release at=5\n1 ok release at=6\n2 ok acquire at=12 t=2 l=10\n3 ok acquire at=14 t=3 l=10", Options{}, Violated, "process 3 was granted at line 8, 1 ns before the grant of process 2 (line 7, token 2) can have ended.", []int{1, 2, 3, 4, 5, 7, 8}},
		{"windows, the longest", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=90\n2 acquire at=3\n2 ok acquire at=3 l=50\n2 release at=4\n2 ok release at=5\n3 acquire at=6\n3 ok acquire at=7 l=9", Options{Keep: 1}, Violated, "process 2 was granted at line 4", []int{1, 2, 3, 4}},
		{"windows", "lease-windows", "1 acquire at=1\n1 ok acquire at=2\n2 acquire at=3\n2 ok acquire at=9", Options{Lease: 9}, Violated, "process 2 was granted at line 4 while the lease that process 1 was granted at line 2 certainly lasted.", []int{1, 2, 3, 4}},
		{"renewed, then granted too early", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=8\n1 ok extend at=9 l=10\n2 acquire at=10\n2 ok acquire at=17 t=2 l=10", Options{}, Violated, "process 2 was granted at line 6, 1 ns before the grant of process 1 (line 2, token 1, renewed at line 4) can have ended.", []int{1, 2, 3, 4, 5, 6}},
		{"renewed, then granted in time", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=8\n1 ok extend at=9 l=10\n2 acquire at=10\n2 ok acquire at=18 t=2 l=10", Options{}, Holds, "", nil},
		{"renewed for less", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=3\n1 ok extend at=4 l=2\n2 acquire at=4\n2 ok acquire at=5 t=2 l=10", Options{}, Holds, "", nil},
		{"renewed twice", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=3\n1 ok extend at=4 l=2\n1 extend at=9\n1 ok extend at=9 l=9\n2 acquire at=10\n2 ok acquire at=17 t=2 l=10", Options{}, Violated, "process 2 was granted at line 8, 1 ns before", []int{1, 2, 5, 6, 7, 8}},
		{"renewal failed", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=8\n1 fail extend at=9\n2 acquire at=10\n2 ok acquire at=11 t=2 l=10", Options{}, Holds, "", nil},
		{"renewal unknown", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=8\n1 info extend at=9\n2 acquire at=10\n2 ok acquire at=11 t=2 l=10", Options{}, Holds, "", nil},
		{"renewal unknown, its grant lasts", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=8\n1 info extend at=9\n2 acquire at=9\n2 ok acquire at=10 t=2 l=10", Options{}, Violated, "process 2 was granted at line 6, 1 ns before the grant of process 1 (line 2, token 1) can have ended.", []int{1, 2, 5, 6}},
		{"renewed in the background", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10 o=x\n7 extend at=5 o=x\n7 info extend at=6 o=x\n8 extend at=7 o=x\n8 ok extend at=8 l=10 o=x\n1 release at=9 o=x\n1 ok release at=10 o=x\n2 acquire at=10\n2 ok acquire at=11 t=2 l=10", Options{}, Holds, "", nil},
		{"renewed after its lease", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 extend at=30\n1 ok extend at=31 l=10\n2 acquire at=32\n2 ok acquire at=40 t=2 l=10", Options{}, Holds, "", nil},
		{"renewed after the next grant", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=20\n2 ok acquire at=21 t=2 l=1\n1 extend at=30\n1 ok extend at=31 l=10", Options{}, Violated, "process 1 was told at line 6 that its lease with token 1 is renewed; process 2 had been granted it at line 4 with token 2, before that was asked.", []int{3, 4, 5, 6}},
		{"renewed what was given back", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 release at=3\n1 ok release at=4\n1 extend at=5\n1 ok extend at=6 l=10", Options{}, Violated, "process 1 was told at line 6 that its lease is renewed, but it had been granted none, or had given it back.", []int{5, 6}},
		{"renewed, and the release failed", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n1 release at=3\n1 fail release at=4\n1 extend at=5\n1 ok extend at=6 l=10", Options{}, Holds, "", nil},
		{"chain ends at a renewal", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=10\n2 acquire at=2\n3 acquire at=2\n2 ok acquire at=12 t=2 l=10\n2 extend at=13\n2 ok extend at=14 l=10\n3 ok acquire at=22 t=3 l=10", Options{}, Violated, "process 3 was granted at line 8, 1 ns before the grant of process 2 (line 5, token 2, renewed at line 7) can have ended.", []int{3, 4, 5, 6, 7, 8}},
		{"renewed, untimed", "lease-untimed", "1 acquire\n1 ok acquire t=1\n2 acquire\n1 extend\n2 ok acquire t=2\n1 ok extend", Options{}, Holds, "", nil},
		{"renewed too late, untimed", "lease-untimed", "1 acquire\n1 ok acquire t=1\n2 acquire\n2 ok acquire t=2\n1 extend\n1 ok extend", Options{}, Violated, "process 1 was told at line 6 that its lease with token 1 is renewed; process 2 had", []int{3, 4, 5, 6}},
		{"renewed without a grant, untimed", "lease-untimed", "1 extend\n1 ok extend", Options{}, Violated, "process 1 was told at line 2 that its lease is renewed, but", []int{1, 2}},
		{"windows, renewed", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=10\n1 extend at=8\n1 ok extend at=9 l=10\n2 acquire at=16\n2 ok acquire at=17 l=10", Options{}, Violated, "process 2 was granted at line 6 while the lease that process 1 was granted at line 2 certainly lasted.", []int{1, 2, 5, 6}},
		{"windows, renewed for less", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=10\n1 extend at=3\n2 acquire at=4\n2 ok acquire at=6 l=10\n1 ok extend at=7 l=2", Options{}, Unknown, "no two", nil},
		{"windows, granted beside a renewal that failed", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=10\n1 extend at=3\n2 acquire at=4\n2 ok acquire at=6 l=10\n1 fail extend at=7", Options{}, Violated, "process 2 was granted at line 5 while", []int{1, 2, 4, 5}},
		{"windows, two granted beside a renewal that failed", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=10\n1 extend at=3\n2 acquire at=4\n2 ok acquire at=5 l=3\n3 acquire at=6\n3 ok acquire at=8 l=5\n1 fail extend at=9", Options{}, Violated, "process 2 was granted at line 5 while", []int{1, 2, 4, 5}},
		{"windows, another meanwhile", "lease-windows", "1 acquire at=1\n1 ok acquire at=2 l=10\n2 acquire at=20\n2 ok acquire at=21 l=1\n1 extend at=30\n1 ok extend at=31 l=9", Options{}, Violated, "process 1 was told at line 6 that its lease since line 2 is renewed, but process 2 had been granted the lock at line 4.", []int{1, 2, 3, 4, 5, 6}},
		{"windows, another lasts", "lease-windows", "2 acquire at=1\n1 acquire at=1\n1 ok acquire at=2 l=3\n2 ok acquire at=20 l=30\n1 extend at=21\n1 ok extend at=22 l=9", Options{}, Violated, "process 1 was told at line 6 that its lease since line 3 is renewed, but process 2 had been granted the lock at line 4.", []int{1, 2, 3, 4, 5, 6}},
		{"windows, renewed what had lapsed", "lease-windows", "1 acquire at=1\n1 ok acquire at=20 l=3\n1 extend at=21\n1 ok extend at=22 l=9\n2 acquire at=23\n2 ok acquire at=24 l=9", Options{}, Violated, "process 2 was granted at line 6 while", []int{1, 2, 5, 6}},
		{"one process, two owners", "reentrant", "1 acquire o=x\n1 ok acquire o=x\n1 acquire o=y\n1 ok acquire o=y", Options{}, Violated, "y was granted at line 4 while x held it since line 2.", []int{1, 2, 3, 4}},
		{"renewals passed over", "mutex", "1 acquire o=x\n1 ok acquire o=x\n7 extend o=x\n1 release o=x\n7 info extend o=x\n1 ok release o=x\n2 acquire\n2 ok acquire", Options{}, Holds, "3 operations", nil},
		{"renewals passed over, nobody owns", "ownerless", "1 acquire\n1 ok acquire\n7 extend\n2 acquire\n2 ok acquire", Options{}, Violated, "process 2 was granted at line 5", []int{4, 5}},
		{"same token", "lease-untimed", "1 acquire\n2 acquire\n1 ok acquire t=4\n2 ok acquire t=4", Options{}, Violated, "process 2 asked for at line 2 and was granted it at line 4 with token 4; process 1 had been granted it at line 3 with token 4.", []int{1, 2, 3, 4}},
		{"enormous lease", "lease", "1 acquire at=9\n1 ok acquire at=9 t=1 l=9223372036854775807\n2 acquire at=10\n2 ok acquire at=11 t=2 l=1", Options{}, Violated, "process 2", []int{1, 2, 3, 4}},
		{"stale write accepted", "fenced-register", "1 write v=a t=2\n1 ok write v=a t=2\n2 write v=b t=1\n2 ok write v=b t=1", Options{}, Violated, `"a" with token 2 has no place before line 2, behind "b" with token 1, which was there at line 3.`, []int{1, 2, 3, 4}},
		{"another of the group first", "fenced-register", anotherFirst + "3 write v=c t=5\n4 read\n4 ok read v=d\n3 ok write v=c t=5\n1 ok write v=d t=5", Options{}, Holds, "", nil},
		{"another cannot be first", "fenced-register", anotherFirst + "3 write v=c t=5\n3 ok write v=c t=5\n4 read\n4 ok read v=d\n1 ok write v=d t=5", Options{}, Violated, "The write of \"x\" with token 1 was refused at line 3", []int{2, 3}},
		{"no reason for another first", "fenced-register", "1 write v=d t=5\n3 write v=c t=5\n2 write v=x t=1\n2 fail write v=x t=1\n3 ok write v=c t=5\n4 read\n4 ok read v=d\n1 ok write v=d t=5", Options{}, Holds, "", nil},
		{"explained by one of the next token", "fenced-register", "1 write v=w t=5\n2 write v=x t=1\n2 fail write v=x t=1\n3 write v=c t=5\n3 ok write v=c t=5", Options{}, Holds, "", nil},
		{"not by one beyond the next token", "fenced-register", "1 write v=w t=6\n2 write v=x t=1\n2 fail write v=x t=1\n3 write v=c t=5\n3 ok write v=c t=5", Options{}, Violated, "The write of \"x\" with token 1 was refused at line 3", []int{2, 3}},
		{"the first event is named", "fenced-register", "1 write v=a t=3\n2 write v=b t=4\n2 ok write v=b t=4\n3 read\n3 ok read v=a", Options{}, Violated, "\"b\" with token 4 has no place before line 3, behind \"a\" with token 3, which was there at line 4.", []int{1, 2, 3, 4, 5}},
		{"two refusals, one explained", "fenced-register", "5 write v=y t=1\n5 fail write v=y t=1\n" + anotherFirst + "3 write v=c t=5\n4 read\n4 ok read v=d\n3 ok write v=c t=5\n1 ok write v=d t=5", Options{}, Violated, "The write of \"y\" with token 1 was refused at line 2", []int{1, 2}},
		{"refused in another order than that of tokens", "fenced-register", "3 write v=m t=3\n1 write v=x t=5\n1 fail write v=x t=5\n2 write v=y t=1\n2 fail write v=y t=1\n3 info write v=m t=3", Options{}, Violated, "The write of \"x\" with token 5 was refused at line 3", []int{2, 3}},
		{"unknown write read too late", "fenced-register", "1 read\n1 ok read v=a\n2 write v=a t=3\n2 info write v=a t=3", Options{}, Violated, "\"a\" with token 3 has no place before line 2.", []int{1, 2, 3}},
		{"read behind the next", "fenced-register", "1 write v=a t=1\n1 ok write v=a t=1\n2 write v=b t=2\n2 ok write v=b t=2\n3 read\n3 ok read v=a", Options{}, Violated, "\"b\" with token 2 has no place before line 4, behind \"a\" with token 1, which was there at line 5.", []int{1, 2, 3, 4, 5, 6}},
		{"refused for nothing", "fenced-register", "1 write v=a t=2\n1 ok write v=a t=2\n2 write v=b t=2\n2 fail write v=b t=2", Options{}, Violated, `The write of "b" with token 2 was refused at line 4, but no higher token can have been seen.`, []int{3, 4}},
		{"read of nothing", "fenced-register", "1 read\n1 ok read v=x", Options{}, Violated, `"x" was read at line 2, but no write of it was accepted.`, []int{1, 2}},
		{"register not asked", "register", "1 write v=a\n1 ok write v=a\n1 write v=a\n1 ok write v=a", Options{}, Unknown, "Porcupine was not asked", nil},
		{"register", "register", "1 write v=a\n1 ok write v=a\n2 read\n2 ok read v=b", Options{}, Violated, `No order explains the read "b" by process 2 that returned at line 4: nobody had asked to write that by then.`, []int{3, 4}},
		{"register, old value", "register", "1 write v=a\n1 ok write v=a\n1 write v=b\n1 ok write v=b\n2 read\n2 ok read v=a", Options{}, Violated, `No order explains the read "a" by process 2 that returned at line 6, beside the operations of another value`, []int{1, 2, 3, 4, 5, 6}},
		{"register, searched", "register", "1 write v=a\n1 ok write v=a\n1 write v=a\n1 ok write v=a\n1 write v=b\n1 ok write v=b\n2 read\n2 ok read v=a", Options{Ask: inProcess}, Violated, `No order explains the read "a" by process 2 that returned at line 8 (Porcupine).`, []int{7, 8}},
		{"first bad of two", "cas-register", "1 cas v=b old=a\n1 ok cas v=b old=a\n2 read\n2 ok read v=c", Options{Ask: inProcess}, Violated, `No order explains the cas "b" by process 1 that returned at line 2`, []int{1, 2}},
		{"cas observed", "cas-register", "1 cas v=b old=a\n1 fail cas v=b old=a", Options{Ask: inProcess, Init: "a"}, Violated, "No order explains the cas", []int{1, 2}},
		{"lenient cas", "cas-register", "1 cas v=b old=a\n1 fail cas v=b old=a\n1 read\n1 ok read", Options{Ask: inProcess, Init: "a", Lenient: true}, Holds, "", nil},
		{"lenient all the same", "cas-register", "1 cas v=b old=c\n1 ok cas v=b old=c", Options{Ask: inProcess, Init: "a", Lenient: true}, Violated, "No order", []int{1, 2}},
		{"unknown write read", "kv", "1 append v=b\n1 info append v=b\n2 read\n2 ok read v=ab", Options{Ask: inProcess, Init: "a"}, Holds, "", nil},
		{"oracle gives up", "kv", "1 append v=b\n1 ok append v=b\n2 read\n2 ok read v=ab", Options{Ask: func(string, Options, []Op) string { return "gave up: tired" }}, Unknown, "Porcupine gave up: tired", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := Named(c.model)
			var events []Event
			if c.text != "" {
				events = script(c.text)
			}
			r, err := decide(m, c.o, events)
			if err != nil || r.Verdict != c.want || !strings.HasPrefix(r.Reason, c.reason) {
				t.Fatalf("%v, %s: %s", err, r.Verdict, r.Reason)
			}
			if c.want != Violated {
				return
			}
			var lines []int
			for _, ref := range r.Violations[0].Events {
				lines = append(lines, ref.Line)
			}
			if fmt.Sprint(lines) != fmt.Sprint(c.events) {
				t.Errorf("lines %v, want %v", lines, c.events)
			}
		})
	}
}

// anotherFirst has a write that must take effect before one that it would be put behind.
const anotherFirst = "1 write v=d t=5\n2 write v=x t=1\n2 fail write v=x t=1\n"

const lostLease = `1 acquire at=1
1 ok acquire at=2 t=1 l=10
2 acquire at=3
2 ok acquire at=20 t=2 l=10
1 release at=21
1 ok release at=22`

func TestReadings(t *testing.T) {
	strict, _ := decide(Models[0], Options{}, script(lostLease))
	m, _ := Named("lease")
	lost, _ := decide(m, Options{}, script(lostLease))
	want := "as a strict mutex: invalid; as a lease lock (lease): valid. A lock was lost while its holder believed in it, as its leases allow."
	if got := Readings(strict, &lost, nil); got != want {
		t.Error(got)
	}
	u, _ := Named("lease-untimed")
	untimed, _ := decide(u, Options{}, script(lostLease))
	if got := Readings(strict, &untimed, nil); strings.Contains(got, "as its leases allow") || !strings.Contains(got, "only if this lock has a lease") {
		t.Error(got)
	}
	if got := Readings(lost, nil, nil); got != "as a strict mutex: valid" {
		t.Error(got)
	}
	if got := Readings(Result{}, &lost, nil); got != "as a strict mutex: unknown; as a lease lock (lease): valid" {
		t.Error(got)
	}
}

// TestCountsAndKeeps has every grant but the first early.
func TestCountsAndKeeps(t *testing.T) {
	d := newMutex(Options{Keep: 3})
	for p := 1; p <= 50; p++ {
		for _, typ := range []history.Type{history.Invoke, history.OK} {
			if err := d.Add(Event{Process: p, Type: typ, F: Acquire}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := d.End()
	if r.Found != 49 || len(r.Violations) != 3 || r.Violations[2].Events[3].Index != 7 {
		t.Errorf("%d found, kept %+v", r.Found, r.Violations)
	}
	if want := (Counts{Events: 100, OK: 50, Keys: 1}); r.Counts != want {
		t.Errorf("counts %+v", r.Counts)
	}
}

// TestForgetsIdle has more processes and owners than are kept, one at a time,
// then one that retired long ago.
func TestForgetsIdle(t *testing.T) {
	d := newTry(Options{}).(*front)
	say := func(p int, typ history.Type, f F) error {
		return d.Add(Event{Process: p, Type: typ, F: f, Owner: fmt.Sprint("o", p)})
	}
	_ = say(-1, history.Invoke, Acquire)
	_ = say(-1, history.Info, Acquire)
	for p := range 3 * idleKept {
		for _, f := range []F{Acquire, Release} {
			if err := say(p, history.Invoke, f); err != nil {
				t.Fatal(err)
			}
			if err := say(p, history.OK, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(d.clients); n > idleKept {
		t.Errorf("%d processes are kept", n)
	}
	if n := len(d.keys[""].owners); n > idleKept {
		t.Errorf("%d owners are kept", n)
	}
	if err := d.Add(Event{Process: 5, Type: history.Invoke, F: Acquire, Owner: "o-1"}); err != nil || len(d.unjudged) != 1 {
		t.Error("an owner that retired is let in", err)
	}
	if r := d.End(); r.Verdict != Unknown || r.Counts.Unknown != 2 {
		t.Errorf("%+v", r)
	}
}

// TestForgottenRelease has a release pending for more acquires than are kept, and then it fails.
func TestForgottenRelease(t *testing.T) {
	d := newMutex(Options{})
	add := func(p int, typ history.Type, f F) {
		if err := d.Add(Event{Process: p, Type: typ, F: f}); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []int{1, 2} {
		add(p, history.Invoke, Acquire)
		add(p, history.OK, Acquire)
		add(p, history.Invoke, Release)
		if p == 2 {
			add(p, history.OK, Release)
		}
	}
	for range lateKept + 3 {
		for _, f := range []F{Acquire, Release} {
			add(2, history.Invoke, f)
			add(2, history.OK, f)
		}
	}
	if n := len(d.(*front).keys[""].judge.(*holds).late); n > lateKept {
		t.Errorf("%d late ones are kept", n)
	}
	add(1, history.Fail, Release)
	if r := d.End(); r.Verdict != Violated || r.Found == 0 {
		t.Errorf("%s: %s", r.Verdict, r.Reason)
	}
	if doubt := d.(*front).found.doubt; !strings.Contains(doubt, "failed after more than 65536 later acquires") {
		t.Errorf("doubt %q", doubt)
	}
}

func TestConfirm(t *testing.T) {
	self := []string{"/proc/self/exe", "oracle", "child"}
	m := Models[0]
	bad, good := script("1 acquire\n2 acquire\n1 ok acquire\n2 ok acquire"), script("1 acquire\n1 ok acquire")
	first := script("1 acquire k=a\n2 acquire k=a\n1 ok acquire k=a\n2 ok acquire k=a\n3 acquire k=b\n3 ok acquire k=b")
	second := script("3 acquire k=a\n3 ok acquire k=a\n1 acquire k=b\n2 acquire k=b\n1 ok acquire k=b\n2 ok acquire k=b")
	for _, c := range []struct {
		name    string
		events  []Event
		verdict Verdict
		self    []string
		oracle  string
		want    Verdict
	}{
		{"violated", bad, Violated, self, "confirmed", Violated},
		{"holds", good, Holds, self, "confirmed", Holds},
		{"the first key", first, Violated, self, "confirmed", Violated},
		{"the second key", second, Violated, self, "confirmed", Violated},
		{"wrongly violated", good, Violated, self, "contradicted", Unknown},
		{"wrongly holds", bad, Holds, self, "contradicted", Unknown},
		{"unknown", bad, Unknown, self, "", Unknown},
		{"no child", bad, Violated, []string{"/bin/false"}, "gave up: the oracle ended with exit status 1:", Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := Result{Verdict: c.verdict}
			Confirm(m, Options{}, c.events, Asker(context.Background(), c.self), &r)
			if strings.TrimSpace(r.Oracle) != c.oracle || r.Verdict != c.want {
				t.Errorf("%q, %s: %s", r.Oracle, r.Verdict, r.Reason)
			}
		})
	}
}

func TestAskerLimits(t *testing.T) {
	ask := Asker(context.Background(), []string{"/proc/self/exe", "oracle", "child"})
	for _, c := range []struct {
		name, model string
		ops         []Op
		want        string
	}{
		{"no model", "nothing", nil, `gave up: no model "nothing"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := ask(c.model, Options{}, c.ops); !strings.HasPrefix(got, c.want) {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
	if got := Answer("mutex", strings.NewReader("{")); !strings.HasPrefix(got, "gave up: cannot read the question") {
		t.Error(got)
	}
	if got := Consult("mutex", Options{}, hardest(), time.Millisecond); got != "gave up: no answer in time" {
		t.Error(got)
	}
}

// hardest is a history on which a search gives up.
func hardest() (ops []Op) {
	for i := range 40 {
		ops = append(ops, Op{F: Acquire, Type: history.Info, Owner: fmt.Sprint("u", i), Call: i, Return: 1000 + i})
	}
	return append(ops, Op{F: Acquire, Type: history.OK, Owner: "a", Call: 100, Return: 101}, Op{F: Acquire, Type: history.OK, Owner: "b", Call: 102, Return: 103})
}

func TestModelsAreWhole(t *testing.T) {
	for _, m := range Models {
		if _, ok := specs[m.Name]; !ok || m.About == "" || m.Assumes == "" {
			t.Errorf("%s lacks a model for Porcupine, or words", m.Name)
		}
		if got := m.New(Options{}).End(); got.Model != m.Name || got.Verdict != Unknown {
			t.Errorf("%s: %+v", m.Name, got)
		}
	}
	if len(specs) != len(Models) {
		t.Errorf("%d specs of %d models", len(specs), len(Models))
	}
	if _, ok := Named("nothing"); ok {
		t.Error("a model called nothing")
	}
}
