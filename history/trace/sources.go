package trace

import (
	"github.com/dlmtest/dlmtest/history"
)

// Source is one that records.
type Source struct {
	Records int
	Last    int64
	Said    int64 // the last that its child recorded, and not its agent
	Asked   int   // the last request that one of its processes made, or -1
	End     int   // its End note, or -1
}

// heard files an operation under who recorded it.
func (t *Trace) heard(i int, op *history.Op) {
	s := t.Sources[op.Node]
	if s == nil {
		s = &Source{End: -1, Asked: -1, Said: -Forever}
		t.Sources[op.Node] = s
	}
	if op.F == history.End && op.Type == history.Note {
		s.End = i
		return
	}
	s.Records++
	s.Last = op.Time
	if op.F != history.Fault && op.F != history.Stall && op.F != history.Held {
		s.Said = op.Time
	}
	if op.Type == history.Invoke {
		s.Asked = i
	}
	if op.Type == history.Note && IsLog(op.F) {
		t.Log.Entries = append(t.Log.Entries, i)
		t.Log.Last, t.Log.Node = op.Time, op.Node
		if op.F == history.ReadSeen {
			t.Log.Reads++
		}
	}
}

// Log is what is known of the resource's log, which is one stream in the order of
// its times, whatever key an entry is about.
type Log struct {
	Entries   []int           // indexes into the history
	Reads     int             // of these, about reads
	Last      int64           // time of the last entry
	Node      string          // who recorded it: the resource, or a client that read a database's log
	OpenReads map[string]bool // owners of grants on which a read has no known outcome
	LateRead  int64           // the latest request to read that was answered
	Answered  int             // its completion
}

// IsLog says whether a note is an entry of the resource's log.
func IsLog(f history.F) bool {
	return f == history.Apply || f == history.ReadSeen || f == history.Happened
}

// looked takes the end of a read of the resource.
func (t *Trace) looked(op, invoke *history.Op) {
	switch {
	case op.Type == history.OK && invoke.Time > t.Log.LateRead:
		t.Log.LateRead, t.Log.Answered = invoke.Time, op.Index
	case op.Type == history.Info:
		t.Log.open(invoke.Owner)
	}
}

// leaveReadsOpen files the reads that were never answered.
func (t *Trace) leaveReadsOpen() {
	for _, p := range t.process {
		if p.invoke > 0 && t.Ops[p.invoke-1].F == history.Read {
			t.Log.open(t.Ops[p.invoke-1].Owner)
		}
	}
}

func (l *Log) open(owner string) {
	if l.OpenReads == nil {
		l.OpenReads = map[string]bool{}
	}
	l.OpenReads[owner] = true
}
