package models

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// TestUntil lists what is known at the moment of a violation, which is event 5 of 10.
func TestUntil(t *testing.T) {
	unknown := func(f F, call int) Op { return Op{F: f, Type: history.Info, Call: call, Return: 10} }
	ok := func(f F, call, ret int) Op { return Op{F: f, Type: history.OK, Call: call, Return: ret} }
	fail := func(f F, call, ret int) Op { return Op{F: f, Type: history.Fail, Call: call, Return: ret} }
	p := &piece{indexes: make([]int, 10)}
	for _, c := range []struct {
		op   Op
		want []Op
	}{
		{ok(Acquire, 0, 1), []Op{ok(Acquire, 0, 1)}},
		{ok(Acquire, 4, 5), []Op{ok(Acquire, 4, 5)}},
		{ok(Read, 4, 5), []Op{ok(Read, 4, 5)}},
		{ok(Acquire, 4, 6), nil},
		{ok(Try, 4, 6), nil},
		{fail(Try, 4, 6), nil},
		{ok(Read, 4, 6), nil},
		{fail(Write, 4, 6), nil},
		{ok(Write, 4, 6), []Op{unknown(Write, 4)}},
		{ok(Write, 5, 6), []Op{unknown(Write, 5)}},
		{ok(CAS, 5, 6), []Op{unknown(CAS, 5)}},
		{ok(Extend, 5, 6), []Op{unknown(Extend, 5)}},
		{ok(Release, 4, 6), []Op{ok(Release, 4, 6)}},
		{ok(ReleaseR, 4, 6), []Op{ok(ReleaseR, 4, 6)}},
		{fail(Release, 4, 6), []Op{fail(Release, 4, 6)}},
		{ok(Release, 6, 7), nil},
		{ok(Write, 6, 7), nil},
	} {
		p.ops = []Op{c.op}
		if got := p.until(5); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: %+v, want %+v", c.op, got, c.want)
		}
	}
}

func TestClosed(t *testing.T) {
	ops := make([]Op, 6)
	for i := range ops {
		ops[i].Call, ops[i].Return = 2*i, 2*i+1
	}
	needs := [][]int{nil, {0}, nil, {4}, {3}, {2}}
	for _, c := range []struct {
		named []int
		want  string
	}{{nil, "[]"}, {[]int{0}, "[0]"}, {[]int{3}, "[0 1]"}, {[]int{2, 3}, "[0 1]"}, {[]int{6}, "[3 4]"}, {[]int{1, 10}, "[0 2 5]"}} {
		named := map[int]bool{}
		for _, at := range c.named {
			named[at] = true
		}
		if got := fmt.Sprint(closed(ops, needs, named)); got != c.want {
			t.Errorf("%v: %s, want %s", c.named, got, c.want)
		}
	}
}

// What rests on an operation goes with it, and only with it.
func TestReduceOps(t *testing.T) {
	ops := make([]Op, 5)
	for i := range ops {
		ops[i].Call = i
	}
	has := func(ops []Op, call int) bool {
		return slices.ContainsFunc(ops, func(op Op) bool { return op.Call == call })
	}
	calls := func(ops []Op) (all []int) {
		for _, op := range ops {
			all = append(all, op.Call)
		}
		return all
	}
	needs := [][]int{nil, {0}, {1}, {0}, nil}
	for _, c := range []struct {
		start []int
		shown int
		want  string
	}{{[]int{0, 1, 2, 3, 4}, 4, "[4]"}, {[]int{0, 1, 2, 3, 4}, 2, "[0 1 2]"}, {[]int{0, 1, 2, 3, 4}, 3, "[0 3]"},
		{[]int{1, 2, 4}, 2, "[1 2]"}, {[]int{0, 1}, 2, "[]"}} {
		left, done := reduceOps(ops, c.start, needs, func(ops []Op) bool { return has(ops, c.shown) }, never)
		if !done {
			t.Errorf("%d of %v: not done", c.shown, c.start)
		}
		if got := fmt.Sprint(calls(left)); got != c.want {
			t.Errorf("%d of %v: %s, want %s", c.shown, c.start, got, c.want)
		}
	}
}

func never() bool { return false }

// A budget ends by work, by questions, by time and by an interrupt, and says which.
func TestBudget(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := NewBudget(ctx)
	if why := b.Over(); why != "" {
		t.Error(why)
	}
	for want, spend := range map[string]func(*Budget){
		"operations were judged": func(b *Budget) { b.Spend(reduceWork + 1) },
		"questions were asked":   func(b *Budget) { b.Questions = reduceQuestions; b.Spend(0) },
		"took longer":            func(b *Budget) { b.until = time.Now().Add(-1) },
		"interrupted":            func(*Budget) { cancel() },
	} {
		if want == "interrupted" {
			continue // it is for good
		}
		spent := b
		if spend(&spent); !strings.Contains(spent.Over(), want) {
			t.Errorf("%q, want %q", spent.Over(), want)
		}
	}
	if cancel(); !strings.Contains(b.Over(), "interrupted") {
		t.Error(b.Over())
	}
}

// A minimizer whose budget is spent asks nothing, and says so.
func TestMinimizerIsInterrupted(t *testing.T) {
	m, _ := Named("mutex")
	events := script("1 acquire\n1 ok acquire\n2 acquire\n2 ok acquire\n1 release\n1 ok release")
	d := m.New(Options{})
	for _, e := range events {
		if err := d.Add(e); err != nil {
			t.Fatal(err)
		}
	}
	r := d.End()
	if len(r.Violations) == 0 {
		t.Fatal("no violation")
	}
	ctx, cancel := context.WithCancel(t.Context())
	mini := NewMinimizer(ctx, nil, m, Options{}, events)
	cancel()
	asked := 0
	out, left := mini.Minimal(r.Violations[0], func(string, Options, []Op) string { asked++; return Illegal })
	if !strings.Contains(out.Why, "interrupted") || left != nil || asked > 0 || mini.budget.Questions > 0 {
		t.Errorf("%+v, %v, asked %d", out, left, asked)
	}
}

// What came after a violation, and what has nothing to do with it, is not in its
// smallest history, whose events are told with their lines.
func TestMinimalOfAMutex(t *testing.T) {
	events := script("3 acquire k=b\n3 ok acquire k=b\n9 acquire k=a\n9 ok acquire k=a\n9 release k=a\n9 ok release k=a\n1 acquire k=a\n2 acquire k=a\n1 ok acquire k=a\n2 ok acquire k=a\n1 release k=a\n1 ok release k=a\n4 acquire k=b\n4 ok acquire k=b")
	m := Models[0]
	r, err := decide(m, Options{}, events)
	if err != nil || len(r.Violations) != 2 {
		t.Fatal(err, r)
	}
	mini := NewMinimizer(t.Context(), nil, m, Options{}, events)
	for i, want := range []string{"[7 8 9 10]", "[1 2 13 14]"} {
		said := []string{}
		out, left := mini.Minimal(r.Violations[i], func(model string, _ Options, ops []Op) string {
			said = append(said, fmt.Sprint(model, " ", len(ops)))
			return Illegal
		})
		var lines []int
		for j, at := range out.Events {
			lines = append(lines, at.Line)
			if events[at.Index] != left[j] {
				t.Errorf("event %d is %+v, told as %+v", j, left[j], at)
			}
		}
		if fmt.Sprint(lines) != want || out.Oracle != Confirmed || len(said) != 1 || out.Why != "" {
			t.Errorf("lines %v, want %s; Porcupine, asked %v: %s; %s", lines, want, said, out.Oracle, out.Why)
		}
	}
	for said, want := range map[string]string{Legal: Contradicted, "gave up: tired": "gave up: tired"} {
		if out, _ := mini.Minimal(r.Violations[0], func(string, Options, []Op) string { return said }); out.Oracle != want {
			t.Errorf("%q: %q", said, out.Oracle)
		}
	}
	if out, _ := mini.Minimal(r.Violations[0], nil); out.Oracle != "" || len(out.Events) != 4 {
		t.Errorf("%+v", out)
	}
	if out, left := mini.Minimal(Violation{Key: "c"}, nil); !strings.Contains(out.Why, "a bug of dlmtest") || left != nil {
		t.Errorf("of no violation: %+v", out)
	}
	if page, err := mini.Draw(t.Context(), []string{"/proc/self/exe", "oracle", "child"}, events[6:10]); err != nil || !strings.Contains(page, "</html>") {
		t.Errorf("%v, a page of %d bytes", err, len(page))
	}
}

// A register is reduced in the child; what says nothing is not put to it.
func TestMinimalOfARegister(t *testing.T) {
	self := []string{"/proc/self/exe", "oracle", "child"}
	m, _ := Named("cas-register")
	o := Options{Ask: inProcess, Init: "a", Lenient: true}
	events := script("1 cas v=b old=c\n1 fail cas v=b old=c\n3 write v=d\n3 ok write v=d\n1 write v=x\n1 ok write v=x\n2 read\n2 ok read v=y\n3 read\n3 ok read v=x")
	r, err := decide(m, o, events)
	if err != nil || r.Verdict != Violated {
		t.Fatal(err, r)
	}
	mini := NewMinimizer(t.Context(), self, m, o, events)
	out, left := mini.Minimal(r.Violations[0], nil)
	if len(left) != 2 || out.Why != "" || left[0].F != Read {
		t.Errorf("%+v: %+v", out, left)
	}
	asked := 0
	search := mini.search
	mini.search = func(model string, o Options, ops []Op) ([]int, error) {
		asked = len(ops)
		return search(model, o, ops)
	}
	if _, _, err := mini.Minimize(r.Violations[0]); err != nil || asked != 3 { // two writes, one read
		t.Errorf("%v, asked about %d operations", err, asked)
	}
	if ops := mini.asked(events); len(ops) != 4 {
		t.Errorf("asked about %+v", ops)
	}
	if ops := mini.asked(script("1 read k=a\n1 ok read k=a\n1 read k=b\n1 ok read k=b")); ops != nil {
		t.Errorf("two keys: %+v", ops)
	}
	for _, c := range []struct {
		self []string
		ops  []Op
		want string
	}{
		{nil, nil, "Porcupine was not asked"},
		{[]string{"/bin/false"}, nil, "Porcupine gave up: the oracle ended"},
		{self, Ops(m, o, events[:4])[0], "Porcupine gave up: it finds no fault with it"},
	} {
		if left, err := askMinimal(context.Background(), c.self, "cas-register", o, c.ops); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v: %v, %v, want %s", c.self, left, err, c.want)
		}
	}
}

// TestNeeds lists what needs what, by hand.
func TestNeeds(t *testing.T) {
	for _, c := range []struct{ name, model, text, want string }{
		{"a grant and its release", "mutex", "1 acquire\n1 ok acquire\n1 release\n1 ok release", "[[1] [0]]"},
		{"of each its own", "mutex", "1 acquire\n1 ok acquire\n1 release\n1 ok release\n2 acquire\n2 ok acquire\n2 release\n2 ok release", "[[1] [0] [3] [2]]"},
		{"what failed needs nothing", "mutex", "1 acquire\n1 fail acquire\n1 acquire\n1 ok acquire\n1 release\n1 fail release", "[[] [] []]"},
		{"the last that is open", "reentrant", "1 acquire\n1 ok acquire\n1 acquire\n1 ok acquire\n1 release\n1 ok release\n1 release\n1 ok release", "[[3] [2] [1] [0]]"},
		{"nobody owns: the first goes with the first", "ownerless", "1 acquire\n1 ok acquire\n2 acquire\n2 ok acquire\n3 release\n3 ok release\n4 release\n4 ok release", "[[2] [3] [0] [1]]"},
		{"a renewal is a part", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=9\n1 extend at=3\n1 ok extend at=4 l=9", "[[1] [0]]"},
		{"a renewal that failed is not", "lease", "1 acquire at=1\n1 ok acquire at=2 t=1 l=9\n1 extend at=3\n1 fail extend at=4", "[[] []]"},
		{"untimed, a renewal is a part", "lease-untimed", "1 acquire\n1 ok acquire t=1\n2 acquire\n2 ok acquire t=2\n1 extend\n1 ok extend", "[[2] [] [0]]"},
		{"untimed, a release", "lease-untimed", "1 acquire\n1 ok acquire t=1\n1 release\n1 ok release", "[[1] [0]]"},
		{"untimed, a renewal that failed", "lease-untimed", "1 acquire\n1 ok acquire t=1\n1 extend\n1 fail extend", "[[] []]"},
		{"untimed, a renewal without a grant", "lease-untimed", "2 acquire\n2 ok acquire t=1\n1 extend\n1 ok extend", "[[] []]"},
		{"a read needs its write", "register", "1 write v=a\n1 ok write v=a\n1 write v=b\n1 ok write v=b\n2 read\n2 ok read v=b", "[[] [] [1]]"},
		{"one that was surely overwritten, where there is no other", "register", "1 write v=a\n1 ok write v=a\n1 write v=b\n1 ok write v=b\n2 read\n2 ok read v=a", "[[] [] [0]]"},
		{"of two the one that was not overwritten", "register", "1 write v=a\n1 ok write v=a\n1 write v=b\n1 ok write v=b\n1 write v=a\n1 ok write v=a\n2 read\n2 ok read v=a", "[[] [] [] [2]]"},
		{"overwritten by a compare-and-set", "cas-register", "1 write v=a\n1 ok write v=a\n1 cas v=b old=a\n1 ok cas v=b old=a\n1 write v=a\n1 ok write v=a\n2 read\n2 ok read v=a", "[[] [0] [] [2]]"},
		{"not by a compare-and-set that failed", "cas-register", "1 write v=a\n1 ok write v=a\n1 cas v=b old=c\n1 fail cas v=b old=c\n1 write v=a\n1 ok write v=a\n2 read\n2 ok read v=a", "[[] [0] [] [2]]"},
		{"not by what may not have happened", "register", "3 write v=a\n1 write v=a\n1 ok write v=a\n1 write v=b\n1 info write v=b\n2 read\n2 ok read v=a\n3 ok write v=a", "[[] [] [0 3] []]"},
		{"an unknown one is never over", "register", "3 write v=a\n1 write v=a\n1 info write v=a\n2 write v=b\n2 ok write v=b\n2 read\n2 ok read v=a\n3 ok write v=a", "[[] [] [0 3] []]"},
		{"first returned of those called later", "register", "5 write v=a\n1 write v=a\n1 ok write v=a\n3 write v=c\n3 ok write v=c\n2 write v=b\n4 read\n4 ok read v=a\n2 ok write v=b\n5 ok write v=a", "[[] [] [4] [] []]"},
		{"a read that failed needs nothing", "register", "1 write v=a\n1 ok write v=a\n2 read v=a\n2 fail read v=a", "[[] []]"},
		{"what a compare-and-set that failed saw", "cas-register", "1 write v=a\n1 ok write v=a\n2 cas v=b old=c\n2 fail cas v=b old=c", "[[] [0]]"},
		{"all that may be parts", "kv", "1 append v=a\n1 ok append v=a\n1 append v=b\n1 ok append v=b\n1 append v=c\n1 ok append v=c\n2 read\n2 ok read v=ab", "[[] [] [] [0 1]]"},
		{"of a register the same value", "register", "1 write v=a\n1 ok write v=a\n3 write v=ab\n3 ok write v=ab\n2 read\n2 ok read v=ab", "[[] [] [1]]"},
		{"a read needs no read", "register", "1 write v=a\n1 ok write v=a\n2 read\n2 ok read v=a\n3 read\n3 ok read v=a", "[[] [0] [0]]"},
		{"an append needs nothing", "kv", "1 append v=a\n1 ok append v=a\n1 append v=ab\n1 ok append v=ab", "[[] []]"},
		{"a write that was accepted needs nothing", "fenced-register", "1 write v=a t=2\n1 ok write v=a t=2\n3 write v=b t=1\n3 ok write v=b t=1", "[[] []]"},
		{"a refused write needs a higher token", "fenced-register", "1 write v=a t=2\n1 ok write v=a t=2\n2 write v=b t=1\n2 fail write v=b t=1", "[[] [0]]"},
		{"not a lower or the same", "fenced-register", "1 write v=a t=1\n1 ok write v=a t=1\n3 write v=c t=2\n3 ok write v=c t=2\n2 write v=b t=2\n2 fail write v=b t=2", "[[] [] []]"},
	} {
		m, _ := Named(c.model)
		if got := fmt.Sprint(needing(c.model, Ops(m, Options{}, script(c.text))[0])); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
