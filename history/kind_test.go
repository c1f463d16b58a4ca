package history

import (
	"strings"
	"testing"
)

// What an operation says of a kind of lock must make sense.
func TestValidateKinds(t *testing.T) {
	setup := Setup{Lease: 1e9, Keys: []string{"k"}}
	grant := func(process int, owner string, depth int32) []Op {
		return []Op{
			{Process: process, Type: Invoke, F: Acquire, Key: "k"},
			{Process: process, Type: OK, F: Acquire, Key: "k", Owner: owner, Depth: depth},
		}
	}
	// The answer to the first request was lost, so its owner is not known until the second.
	lostFirst := []Op{
		{Node: "c", Process: 1, Type: Invoke, F: Acquire, Key: "k"},
		{Node: "c", Process: 1, Type: Info, F: Acquire, Key: "k"},
		{Node: "c", Process: 2, Type: Invoke, F: Acquire, Key: "k"},
		{Node: "c", Process: 2, Type: OK, F: Acquire, Key: "k", Owner: "a", Depth: 2},
	}
	for _, c := range []struct {
		name string
		ops  []Op
		want string
	}{
		{"again", append(grant(1, "a", 1), grant(1, "a", 2)...), ""},
		{"again at depth 1", append(grant(1, "a", 1), grant(1, "a", 1)...), ""}, // as is that
		{"anew at depth 1", append(append(grant(1, "a", 1), Op{Process: 1, Type: Invoke, F: Release, Key: "k", Owner: "a"},
			Op{Process: 1, Type: OK, F: Release, Key: "k", Owner: "a"}), grant(1, "a", 1)...), `owner "a" was used on line 3`},
		{"again without depth", append(grant(1, "a", 0), grant(1, "a", 0)...), `owner "a" was used on line 3`},
		{"deep at once", grant(1, "a", 2), ""}, // that is for the judge
		{"deep after an unknown outcome", lostFirst, ""},
		{"no owner", grant(1, "", 0), "a grant without an owner"},
		{"mode", []Op{{Type: Invoke, F: Acquire, Key: "k", Mode: "half"}}, `mode "half": want exclusive or shared`},
		{"permits", []Op{{Type: Invoke, F: Acquire, Key: "k", Permits: -1}}, "permits -1"},
		{"busy", []Op{{Type: Invoke, F: Try, Key: "k", Busy: true}}, "only a failure says that"},
		{"refused", []Op{{Type: Invoke, F: Try, Key: "k"}, {Type: Fail, F: Try, Key: "k", Busy: true}}, ""},
		{"change to nothing", append(grant(1, "a", 0), Op{Process: 1, Type: Invoke, F: Change, Key: "k", Owner: "a"}), "a change without the mode"},
		{"change", append(grant(1, "a", 0), Op{Process: 1, Type: Invoke, F: Change, Key: "k", Owner: "a", Mode: Exclusive}, Op{Process: 1, Type: OK, F: Change, Key: "k", Owner: "a", Mode: Exclusive}), ""},
	} {
		for i := range c.ops {
			c.ops[i].Index, c.ops[i].Time = i, int64(i)
		}
		err := Validate(setup, c.ops)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func TestValidateKindOfSetup(t *testing.T) {
	for _, c := range []struct {
		kind    Kind
		permits int
		want    string
	}{
		{Mutex, 0, ""}, {ReadWrite, 0, ""}, {Semaphore, 3, ""},
		{"mutexes", 0, `kind "mutexes": want one of`}, {Semaphore, 0, "permits 0: a semaphore has at least one"}, {Mutex, 2, "permits 2: only a semaphore"},
	} {
		err := Validate(Setup{Lease: 1e9, Keys: []string{"k"}, Kind: c.kind, Permits: c.permits}, nil)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %d: %v, want %q", c.kind, c.permits, err, c.want)
		}
	}
}
