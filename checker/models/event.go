// Package models decides histories of locks and registers that anybody may have
// recorded: a model says what a sequence of operations must look like, a decider
// whether the history has such a sequence, by one sweep where that is possible.
package models

import "github.com/dlmtest/dlmtest/history"

// Event is one event of a history, as every format can tell it. The events of a
// file come in the order in which they happened; a process has one operation
// pending at a time, and none after an Info.
type Event struct {
	Line    int          // of the source, from 1; 0: unknown
	Time    int64        // ns by one clock; 0: the order of events is all that is known, unless Timed
	Timed   bool         // the source told the time, though it is 0
	Process int          // who
	Type    history.Type // Invoke, OK, Fail or Info
	F       F            // what
	Key     string       // which lock or register; empty where there is one
	Owner   string       // on whose behalf, for locks; empty: untold, so the process's last on this lock, or its own
	Implied bool         // the source does not tell the owner: it is the process's last, as a reader takes it
	Token   int64        // fencing token; 0: none
	Lease   int64        // ns granted to an acquire or a renewal, or asked for by its call; 0: none
	Refused bool         // of a Fail: the lock answered no, as to one that does not hold it
	Value   string       // what is written or was read; "" of a read: nothing was there
	Old     string       // of a CAS: the value that must be there
	Note    string       // what the source says beside, such as an error
}

// F names an operation of a model.
type F string

// The operations.
const (
	Acquire  F = "acquire" // wait for the lock; of a read-write lock: as writer
	AcquireR F = "acquire-read"
	Try      F = "try"     // take the lock; Fail says that somebody else held it
	Extend   F = "extend"  // renew the lease of what is held; of Claims: its OK says that its owner holds the lock
	Release  F = "release" // give it back
	ReleaseR F = "release-read"
	Read     F = "read"
	Write    F = "write"
	Append   F = "append" // put Value behind what is there; of kv only
	CAS      F = "cas"    // Fail says that the value was another
)
