package junit

import (
	"encoding/xml"
	"fmt"
	"io"
	"time"
)

// Suite is a group of test cases of a JUnit file.
type Suite struct {
	Name    string
	Started time.Time
	Took    time.Duration
	Cases   []Case
}

// Case is one test case of a JUnit file.
type Case struct {
	Class, Name string
	Took        time.Duration
	State       CaseState
	Message     string // of a case that did not pass
	Body        string // what else there is to say of it
	Out         string // of any case
}

// CaseState is how JUnit files know a case.
type CaseState int

// The states. What could not be carried out is an error: a skipped test is shown as
// green by CI, and what is inconclusive never is.
const (
	CasePassed CaseState = iota
	CaseFailed
	CaseError
	CaseSkipped
)

// WriteSuites writes several suites as one JUnit XML file.
func WriteSuites(w io.Writer, name string, took time.Duration, suites []Suite) error {
	all := junitSuites{Name: name, Time: Seconds(took.Seconds())}
	for _, s := range suites {
		suite := XMLSuite{Name: s.Name, Time: Seconds(s.Took.Seconds())}
		if !s.Started.IsZero() {
			suite.Timestamp = s.Started.UTC().Format("2006-01-02T15:04:05")
		}
		for _, c := range s.Cases {
			suite.Put(c.junit())
		}
		all.Suites = append(all.Suites, suite)
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Errors += suite.Errors
		all.Skipped += suite.Skipped
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("write JUnit of %s: %w", name, err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

type junitSuites struct {
	XMLName  xml.Name   `xml:"testsuites"`
	Name     string     `xml:"name,attr"`
	Tests    int        `xml:"tests,attr"`
	Failures int        `xml:"failures,attr"`
	Errors   int        `xml:"errors,attr"`
	Skipped  int        `xml:"skipped,attr"`
	Time     Seconds    `xml:"time,attr"`
	Suites   []XMLSuite `xml:"testsuite"`
}

func (c Case) junit() XMLCase {
	t := XMLCase{Class: c.Class, Name: c.Name, Time: Seconds(c.Took.Seconds()), Out: c.Out}
	state := &XMLState{Message: c.Message, Body: c.Body}
	switch c.State {
	case CaseFailed:
		t.Failure = state
	case CaseError:
		t.Error = state
	case CaseSkipped:
		t.Skipped = state
	}
	return t
}
