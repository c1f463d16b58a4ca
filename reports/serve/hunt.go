package serve

import (
	"errors"
	"io"
	"path"
	"time"

	"github.com/dlmtest/dlmtest/reports"
)

// huntFile makes a folder one of a hunt.
const huntFile = "hunt.json"

// Listed is what a list says of a folder.
type Listed struct {
	Title   string
	Started time.Time
	Verdict reports.Outcome
	Says    string // the verdict in words; "": as the verdict has it
	More    string
}

// readHunt describes the folder of a hunt, as Server.Hunt reads it.
func (s *Server) readHunt(name string, e *entry) {
	e.Kind, e.Title, e.Says, e.Verdict = "hunt", "hunt", broken, reports.Failed
	data, err := s.whole(path.Join(name, huntFile))
	var l Listed
	if err == nil {
		l, err = s.Hunt(huntFile, data)
	}
	if err != nil {
		e.More = err.Error()
		return
	}
	e.Title, e.Started, e.Verdict, e.Says, e.More = l.Title, l.Started, l.Verdict, l.Says, l.More
	if e.Says == "" {
		e.Says = l.Verdict.Words()
	}
	if s.has(name, "index.html") {
		e.Report = "index.html"
	}
	if s.held(name) {
		e.Says = goesOn
	}
}

// whole reads a file for a list.
func (s *Server) whole(name string) ([]byte, error) {
	f, info, err := s.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > mostRead {
		return nil, errors.New("too big for a list")
	}
	return io.ReadAll(io.LimitReader(f, mostRead))
}
