package models

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// TestClaims says what a lock that may be lost at any time claims.
func TestClaims(t *testing.T) {
	acquire := func(owner string, token int64) Op {
		return Op{F: Acquire, Type: history.OK, Owner: owner, Token: token}
	}
	say := func(f F, owner string) Op { return Op{F: f, Type: history.OK, Owner: owner} }
	for _, c := range []struct {
		name string
		ops  []Op // one after the other
		want string
	}{
		{"lost", []Op{acquire("a", 0), acquire("b", 0)}, Legal},
		{"renewed", []Op{acquire("a", 0), say(Extend, "a"), say(Extend, "a"), say(Release, "a")}, Legal},
		{"renewed, lost", []Op{acquire("a", 0), acquire("b", 0), say(Extend, "a")}, Illegal},
		{"given back, lost", []Op{acquire("a", 0), acquire("b", 0), say(Release, "a")}, Illegal},
		{"given back twice", []Op{acquire("a", 0), say(Release, "a"), say(Release, "a")}, Illegal},
		{"tokens rise", []Op{acquire("a", 3), acquire("b", 4)}, Legal},
		{"a token again", []Op{acquire("a", 3), acquire("b", 3)}, Illegal},
		{"a token falls", []Op{acquire("a", 3), say(Release, "a"), acquire("b", 2)}, Illegal},
		{"a grant without one", []Op{acquire("a", 3), acquire("b", 0)}, Legal},
	} {
		for i := range c.ops {
			c.ops[i].Call, c.ops[i].Return = 2*i, 2*i+1
		}
		if got := Consult(Claims, Options{}, c.ops, OracleTime); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// What is held already may be taken again without a token, or with the same one.
func TestReentrantTokens(t *testing.T) {
	for _, c := range []struct {
		first, second int64
		want          string
	}{{1, 1, Legal}, {1, 0, Legal}, {0, 1, Legal}, {0, 0, Legal}, {1, 2, Illegal}} {
		ops := []Op{{F: Acquire, Type: history.OK, Owner: "a", Token: c.first, Return: 1}, {F: Acquire, Type: history.OK, Owner: "a", Token: c.second, Call: 2, Return: 3}}
		if got := Consult("reentrant", Options{}, ops, OracleTime); got != c.want {
			t.Errorf("%d, then %d: %s", c.first, c.second, got)
		}
	}
}

// From hold to hold the tokens of a reentrant lock rise, where they are told.
func TestReentrantTokensRise(t *testing.T) {
	const two = "1 acquire\n1 ok acquire t=%d\n1 acquire\n1 ok acquire t=%d\n1 release\n1 ok release\n1 release\n1 ok release\n2 acquire\n2 ok acquire t=%d"
	for _, c := range []struct {
		first, again, next int64
		want               Verdict
	}{{7, 7, 8, Holds}, {7, 7, 7, Violated}, {7, 0, 6, Violated}, {0, 7, 7, Violated}, {0, 7, 8, Holds}, {7, 7, 0, Holds}, {0, 0, 1, Holds}} {
		text := strings.ReplaceAll(fmt.Sprintf(two, c.first, c.again, c.next), " t=0", "")
		m, _ := Named("reentrant")
		got, err := decide(m, Options{}, script(text))
		if err != nil || got.Verdict != c.want {
			t.Errorf("%v: %s, %s, %v", c, got.Verdict, got.Reason, err)
		}
		ops := Ops(m, Options{}, script(text))[0]
		if said := Consult("reentrant", Options{}, ops, OracleTime); (said == Legal) != (c.want == Holds) {
			t.Errorf("%v: Porcupine says %s", c, said)
		}
	}
}

// What was given back cannot be renewed, and who asks late gets a lease from then on.
func TestLeasesInTime(t *testing.T) {
	at := func(f F, owner string, token, called, done, lease int64) Op {
		return Op{F: f, Type: history.OK, Owner: owner, Token: token, Called: called, Done: done, Lease: lease}
	}
	for _, c := range []struct {
		name string
		ops  []Op // one after the other
		want string
	}{
		{"renewed", []Op{at(Acquire, "a", 1, 1, 2, 10), at(Extend, "a", 0, 3, 4, 10)}, Legal},
		{"given back, renewed", []Op{at(Acquire, "a", 1, 1, 2, 10), at(Release, "a", 0, 3, 4, 0), at(Extend, "a", 0, 5, 6, 10)}, Illegal},
		{"given back", []Op{at(Acquire, "a", 1, 1, 2, 10), at(Release, "a", 0, 3, 4, 0), at(Acquire, "b", 2, 5, 6, 10)}, Legal},
		{"too early", []Op{at(Acquire, "a", 1, 1, 2, 10), at(Acquire, "b", 2, 5, 10, 10)}, Illegal},
		{"in time", []Op{at(Acquire, "a", 1, 1, 2, 10), at(Acquire, "b", 2, 5, 11, 10)}, Legal},
		{"given back late", []Op{at(Acquire, "a", 1, 1, 2, 10), at(Release, "a", 0, 20, 21, 0), at(Acquire, "b", 2, 22, 23, 10), at(Acquire, "a", 3, 24, 31, 10)}, Illegal},
	} {
		for i := range c.ops {
			c.ops[i].Call, c.ops[i].Return = 2*i, 2*i+1
		}
		if got := Consult("lease", Options{}, c.ops, OracleTime); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// A drawing says of each operation who, what and its token.
func TestDrawnWords(t *testing.T) {
	m, _ := Named("fenced-mutex")
	ops := Ops(m, Options{}, script("1 acquire o=x\n1 ok acquire o=x t=7\n2 try o=y\n2 fail try o=y"))[0]
	page, err := Draw(context.Background(), []string{"/proc/self/exe", "oracle", "child"}, m.Name, Options{}, ops)
	if err != nil || !strings.Contains(page, "x acquire token 7 ok") || !strings.Contains(page, "y try fail") {
		t.Errorf("%v, %d bytes", err, len(page))
	}
}
