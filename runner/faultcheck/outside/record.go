// Package outside measures the faults of dlmtest from within a node of a real run, as their victim: what a program
// sees of its own pauses, clocks, connections and files. It shares no code with the agents that inject and prove
// them, so that a mistake of theirs is not made twice. It is a lock server and a lock client by the way, since a
// run needs both; runner/faultcheck starts it and holds what it saw beside what the history says.
package outside

import (
	"bytes"
	"encoding/json"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Record is one thing that a measuring program saw. It prints each as a line on its stderr, which is its node's log.
type Record struct {
	At   int64  `json:"at"`             // CLOCK_MONOTONIC in ns, by a direct system call, which no fault bends
	From int64  `json:"from,omitempty"` // when what is told began, by the same clock
	Born int64  `json:"born,omitempty"` // when the process began: no two of a node have the same
	Who  string `json:"who"`            // which process, thread, folder or connection
	What string `json:"what"`           // see the constants
	Peer string `json:"peer,omitempty"` // the other node
	N    int64  `json:"n,omitempty"`    // a number, a count, an offset in ns
	M    int64  `json:"m,omitempty"`    // a second one
	Text string `json:"text,omitempty"`
}

// What records tell.
const (
	Beat    = "beat"    // Who has run at At
	Gap     = "gap"     // Who has not run from From to At
	Clock   = "clock"   // Who reads REALTIME N ns and MONOTONIC M ns away from the truth
	UDP     = "udp"     // a datagram of Peer has arrived
	TCP     = "tcp"     // a line of Peer has arrived, on a connection that stays open
	Connect = "connect" // a new connection to Peer was made
	ICMP    = "icmp"    // Peer has answered an echo request, or a datagram to a closed port
	Call    = "call"    // the worker has asked its lock client for something
	Trip    = "trip"    // message N went at From, reached the server at M, and its answer came at At
	Sent    = "sent"    // message N was sent
	Broken  = "broken"  // a connection through the link broke, for the reason in Text
	Dialled = "dialled" // a connection through the link was made
	Bulk    = "bulk"    // N bytes went through a connection of their own and were acknowledged
	Synced  = "synced"  // entry N of the file Who is synced
	Written = "written" // entry N of the file Who is written, and never synced
	Found   = "found"   // N whole entries of the file Who were there at the start, in M bytes; -1: no such file
	Fsync   = "fsync"   // an fsync that began at From came back
	Full    = "full"    // the disk took N bytes and then said Text
	Unable  = "unable"  // Who cannot be measured here, for the reason in Text
)

// mark begins each line, as other things stand in a log too.
const mark = "outside "

var (
	printing sync.Mutex
	born     = raw(unix.CLOCK_MONOTONIC)
)

// print prints a record in one write: several processes share the pipe.
func (r Record) print() {
	if r.At == 0 {
		r.At = raw(unix.CLOCK_MONOTONIC)
	}
	r.Born = born
	line, err := json.Marshal(r)
	if err != nil {
		panic("outside: " + err.Error()) // cannot fail: plain data
	}
	printing.Lock()
	defer printing.Unlock()
	_, _ = os.Stderr.Write(append(append([]byte(mark), line...), '\n'))
}

// Parse reads the records of a log, and says how many lines that should be some are not.
func Parse(log []byte) (all []Record, torn int) {
	for line := range bytes.Lines(log) {
		_, text, is := bytes.Cut(line, []byte(mark))
		var r Record
		switch {
		case !is:
		case json.Unmarshal(text, &r) != nil:
			torn++
		default:
			all = append(all, r)
		}
	}
	return all, torn
}

// raw reads a clock by a system call of its own: no vDSO takes part.
func raw(clock int32) int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(clock, &t); err != nil {
		panic("outside: clock_gettime: " + err.Error()) // cannot fail on Linux
	}
	return t.Nano()
}
