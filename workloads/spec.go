// Package workloads holds the loops that use a lock and its guarded resource,
// and the worker that runs them: the child of every client node. All calls pass
// through one recorder, which stamps them.
package workloads

import (
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// Mode is what a worker does.
type Mode string

// Guarded runs the guarded-write loop; Finally acquires every key once, on new
// connections, after all is healed; Conform runs the conformance suite of locks.
const (
	Guarded Mode = "guarded-write"
	Finally Mode = "final"
	Conform Mode = "conform"
)

// The loops for kinds of lock; see history.Kind.
const (
	Tries     Mode = "try"
	Nested    Mode = "reentrant"
	ReadWrite Mode = "read-write"
	Permits   Mode = "semaphore"
	Leader    Mode = "leader"
	Watchdog  Mode = "watchdog"
	Herd      Mode = "herd"
	OwnKey    Mode = "own-key"
)

// Spec is all that a worker is told, in one line, before it starts.
type Spec struct {
	Mode    Mode   `json:"mode"`
	Backend string `json:"backend"` // a name in locks.Table
	// Settings are the run's, whole: the library or the adapter, the rules of the resource, …
	Settings settings.Settings `json:"settings"`
	Lock     locks.Config      `json:"lock"`
	Resource ResourceSpec      `json:"resource"`
	Env      []string          `json:"env,omitempty"`     // of the adapter, if the lock is behind one: what its image says
	Number   int               `json:"number"`            // of the client, from 0: process ids start at Number × 1,000,000
	Clients  int               `json:"clients,omitempty"` // of the run: a worker takes its share of the processors
	Node     string            `json:"node"`
	Keys     []string          `json:"keys"`
	Seed     uint64            `json:"seed"`

	Kind    history.Kind `json:"kind,omitempty"`    // of lock; what Finally acquires by
	Permits int          `json:"permits,omitempty"` // of each key, of a semaphore

	Renew    bool           `json:"renew"`              // a loop extends the lease while the work goes on
	Patience locks.Patience `json:"patience,omitempty"` // with the answers to its renewals
	Work     time.Duration  `json:"work"`               // between read and write, on average
	Think    time.Duration  `json:"think"`              // between release and the next acquire, on average
	Wait     time.Duration  `json:"wait"`               // limit of one acquire

	ReleaseWait time.Duration `json:"release_wait,omitempty"` // limit of one release; 0: that of any call

	Use history.Use `json:"use,omitzero"` // numbers of the well-known uses
}

// ResourceSpec says where the guarded resource is; which one it is is a setting.
type ResourceSpec struct {
	Addr string `json:"addr"` // "": there is none
	Key  string `json:"key"`  // with which the store knows its clients, see resource.Rules
}

// Self-fencing: what a client does before it writes. Each narrows the window of
// a zombie, none closes it: the pause may come after the check.
const (
	FenceNone     = history.FenceNone
	FenceDeadline = history.FenceDeadline // by its own clock
	FenceSession  = history.FenceSession  // has it been told of a loss?
)

// The checkpoints of the guarded-write loop, where faults can be triggered.
const (
	AtWaiting     = "waiting"      // is about to ask for the lock
	AtBetween     = "between"      // is between two requests of one acquire, where its lock takes several
	AtAcquired    = "acquired"     // has the lock, has done nothing yet
	AtBeforeWrite = "before-write" // has read, has not checked and not invoked its write
	AtWriting     = "writing"      // has checked itself, has not invoked its write
	AtRenewing    = "renewing"     // is about to send a renewal, beside the work
	AtReleasing   = "releasing"    // has written, has not invoked its release
)

// Said is a word of a worker for the runner.
type Said struct {
	Ready     bool       `json:"ready,omitempty"`     // its first lock operation has succeeded
	Done      bool       `json:"done,omitempty"`      // it has stopped as asked
	Waiting   string     `json:"waiting,omitempty"`   // not ready yet, because
	Conformed *Conformed `json:"conformed,omitempty"` // what the conformance suites have found
	Load      *Load      `json:"load,omitempty"`      // what a capacity worker holds now
	Fatal     string     `json:"fatal,omitempty"`     // dlmtest itself failed
	// Hello is what the adapter of a lock that is a process said of itself; with Ready, and of the final acquire.
	Hello *protocol.Result `json:"hello,omitempty"`
}

// Told is a word of the runner for a worker.
type Told struct {
	Spec  *Spec `json:"spec,omitempty"`
	Begin bool  `json:"begin,omitempty"`
	Load  *Load `json:"load,omitempty"` // what a capacity worker is to hold
	Stop  bool  `json:"stop,omitempty"` // finish the round in hand and end
}
