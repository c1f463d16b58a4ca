// Package junit writes verdicts as JUnit files.
package junit

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Write writes a judgement as JUnit XML: one test case for each property, and
// one for the run as a whole. A violation is a failure and n/a is skipped.
// Unknown is an error: in JUnit's words the test could not be carried out. It is
// not skipped, since CI shows a skipped test as green, and inconclusive never is.
func Write(w io.Writer, run reports.Run, r checker.Result) error {
	suite := XMLSuite{
		Name: strings.Join(strings.Fields("dlmtest "+run.Scenario+" "+run.Lock()), " "), Time: Seconds(run.Took.Seconds()),
	}
	if !run.Started.IsZero() {
		suite.Timestamp = run.Started.UTC().Format("2006-01-02T15:04:05")
	}
	suite.add(run, wholeRun(run, r))
	for _, p := range r.Properties {
		suite.add(run, p)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return fmt.Errorf("write JUnit of run %s: %w", run.ID, err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// wholeRun says as a property whether the run may be believed.
func wholeRun(run reports.Run, r checker.Result) checker.Property {
	doubts := reports.Doubts(r)
	p := checker.Property{Name: "run", Verdict: checker.Holds, Reason: strings.Join(doubts, "; ")}
	if r.Verdict == checker.Unknown || run.Interrupted != "" {
		p.Verdict = checker.Unknown
	}
	return p
}

// XMLSuite is a group of cases as the file has it.
type XMLSuite struct {
	XMLName   xml.Name  `xml:"testsuite"`
	Name      string    `xml:"name,attr"`
	Tests     int       `xml:"tests,attr"`
	Failures  int       `xml:"failures,attr"`
	Errors    int       `xml:"errors,attr"`
	Skipped   int       `xml:"skipped,attr"`
	Time      Seconds   `xml:"time,attr"`
	Timestamp string    `xml:"timestamp,attr,omitempty"`
	Cases     []XMLCase `xml:"testcase"`
}

// XMLCase is a case as the file has it.
type XMLCase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	Time    Seconds   `xml:"time,attr,omitempty"`
	Failure *XMLState `xml:"failure"`
	Error   *XMLState `xml:"error"`
	Skipped *XMLState `xml:"skipped"`
	Out     string    `xml:"system-out,omitempty"`
}

// Seconds is seconds to the millisecond, never in the form 1e-05, which viewers
// refuse.
type Seconds float64

// MarshalXMLAttr implements xml.MarshalerAttr.
func (t Seconds) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: strconv.FormatFloat(float64(t), 'f', 3, 64)}, nil
}

// XMLState is why a case did not pass.
type XMLState struct {
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}

func (s *XMLSuite) add(run reports.Run, p checker.Property) {
	c := XMLCase{Class: cmp.Or(strings.Trim(run.Scenario+"."+run.Lock(), "."), "dlmtest"), Name: p.Name, Out: p.Tested}
	state := &XMLState{Message: p.Reason}
	switch p.Verdict {
	case checker.Violated:
		state.Body = evidence(p, run)
		c.Failure = state
	case checker.Unknown:
		c.Error = state
	case checker.NA:
		c.Skipped = state
	}
	s.Put(c)
}

// Put adds a case and counts it.
func (s *XMLSuite) Put(c XMLCase) {
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

// evidence lists the first violations and how to repeat the run.
func evidence(p checker.Property, run reports.Run) string {
	var b strings.Builder
	for i, v := range p.Violations {
		if i == 10 {
			fmt.Fprintf(&b, "and %d more\n", len(p.Violations)-i)
			break
		}
		fmt.Fprintf(&b, "%s (operations %v)\n", v.Message, v.Operations)
	}
	fmt.Fprintf(&b, "repeat: %s", say.Shell(run.Command))
	return b.String()
}
