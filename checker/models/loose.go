package models

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// A release of unknown outcome for an owner whom nothing tells is loose: a client that kept
// its name and got another process may have sent it, so it may end anybody's hold, at any
// time after its call. What a sweep finds without it may be explained by it, and what holds
// without it holds. The same is true of a renewal, which may have made a lease shorter.

// loose says that an operation is of that kind, if nobody knows its outcome.
func (f *front) loose(op *operation) bool {
	switch {
	case !f.owners, f.name == "lease-untimed", f.name == Claims: // a lock that may be lost at any time needs no release
		return false
	case op.owner == nil, f.holding(op), op.owner.lent:
		return false
	}
	return op.F == Release || op.F == ReleaseR || op.F == Extend && f.times
}

// leaveLoose remembers the first of them on a key.
func (f *front) leaveLoose(op *operation, k *keyLog) {
	if f.loose(op) && (k.loose == nil || op.call.Index < k.loose.Index) {
		at := op.call
		k.loose = &at
	}
}

// explainLoose takes back what was found on a key since a loose operation was called.
func (f *front) explainLoose(k *keyLog) {
	if k.loose == nil || !k.named || f.found.drop(k.name, k.loose.Index) == 0 || k.broken != "" {
		return
	}
	k.broken = fmt.Sprintf("%s: a release or a renewal was called whose outcome and whose owner nobody knows, and it "+
		"may explain what is wrong afterwards: only Porcupine can judge that", *k.loose)
	f.unjudged = append(f.unjudged, k)
}

// drop takes back what was found on a key after an event, and says how much.
func (f *found) drop(key string, after int) int {
	before := len(f.kept)
	f.kept = slices.DeleteFunc(f.kept, func(v Violation) bool { return v.Key == key && v.at > after })
	dropped := before - len(f.kept)
	if f.count -= dropped; len(f.kept) == 0 {
		f.count = 0
	}
	return dropped
}

// asked are the operations that one may be: a loose one is of any who has the lock.
func (s spec) asked(state any, op *Op) []*Op {
	if s.who == nil || op.Owner != Anybody || op.Type != history.Info && !op.Implied || taking(op.F) {
		return []*Op{op}
	}
	var all []*Op
	for _, owner := range s.who(state) {
		if owner != "" {
			one := *op
			one.Owner = owner
			all = append(all, &one)
		}
	}
	return all
}

// owners are the names in a list of words.
func owners(words string) (names []string) {
	for _, w := range strings.Fields(words) {
		if name, err := hex.DecodeString(w); err == nil {
			names = append(names, string(name))
		} else if w == Anybody {
			names = append(names, w)
		}
	}
	return names
}

func whoHolds(state any) []string {
	switch s := state.(type) {
	case heldBy:
		return []string{s.owner}
	case crowd:
		return owners(s.owners)
	case rw:
		return owners(s.writer + " " + s.readers)
	case fenced:
		return []string{s.owner}
	case leased:
		return append(owners(s.out), s.owner)
	case lent:
		return append(owners(s.out), s.owner)
	case claimed:
		return []string{s.owner}
	}
	return nil
}
