package history

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Use is what the clients use the lock for, where that is more than a guarded
// write. The judge needs its numbers; the zero value is the plain guarded write.
type Use struct {
	Name   string        `json:"name,omitempty"`   // see Uses; "": none of them
	Stock  int           `json:"stock,omitempty"`  // inventory: how many there are to sell
	Blocks int           `json:"blocks,omitempty"` // file: of how many blocks a version is made
	Every  time.Duration `json:"every,omitempty"`  // cron: from one slot to the next; cache: the age at which an entry is rebuilt
	// Lockless says that no client takes the lock: what is shown is another protection.
	Lockless bool `json:"lockless,omitempty"`
}

// The well-known uses of a lock.
const (
	Inventory = "inventory" // sell what there is, and no more
	Payment   = "payment"   // charge each order once
	Cron      = "cron"      // run each slot at most once
	File      = "file"      // write a file in blocks, one writer at a time
	TwoKeys   = "two-keys"  // take two locks, in opposite order
	Cache     = "cache"     // rebuild an entry, one client at a time
)

// Effect is an operation that does something in the world: it charges a card, starts
// a job, appends a block. What was done stays done. Its Value names it; what it does
// stands in its copies, as a use may do different things in the unfenced world and
// in the fenced one. Happened is the note of the resource that it did.
const (
	Effect   F = "effect"
	Happened F = "happened"
)

// Pair is a number that a use keeps in the guarded resource, in each of its copies.
type Pair struct{ Unfenced, Fenced int }

// Numbered is the value of a write that sets both numbers; id is unique in the run.
func Numbered(id string, p Pair) string { return fmt.Sprintf("%s %d|%d", id, p.Unfenced, p.Fenced) }

// PairOf reads the numbers of a value that Numbered made.
func PairOf(value string) (p Pair, ok bool) {
	space := strings.LastIndexByte(value, ' ')
	left, right, found := strings.Cut(value[space+1:], "|")
	if space < 1 || !found {
		return p, false
	}
	var err, err2 error
	p.Unfenced, err = strconv.Atoi(left)
	p.Fenced, err2 = strconv.Atoi(right)
	return p, err == nil && err2 == nil
}
