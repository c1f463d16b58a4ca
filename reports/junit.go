package reports

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/checker"
)

// JUnit writes a judgement as JUnit XML: one test case for each property, and
// one for the run as a whole. A violation is a failure and n/a is skipped.
// Unknown is an error: in JUnit's words the test could not be carried out. It is
// not skipped, since CI shows a skipped test as green, and inconclusive never is.
func JUnit(w io.Writer, run Run, r checker.Result) error {
	suite := junitSuite{
		Name: strings.Join(strings.Fields("dlmtest "+run.Scenario+" "+run.lock()), " "), Time: junitTime(run.Took.Seconds()),
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
func wholeRun(run Run, r checker.Result) checker.Property {
	doubts := allDoubts(run, r)
	p := checker.Property{Name: "run", Verdict: checker.Holds, Reason: strings.Join(doubts, "; ")}
	if r.Verdict == checker.Unknown || run.Interrupted != "" {
		p.Verdict = checker.Unknown
	}
	return p
}

type junitSuite struct {
	XMLName   xml.Name    `xml:"testsuite"`
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Skipped   int         `xml:"skipped,attr"`
	Time      junitTime   `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Class   string      `xml:"classname,attr"`
	Name    string      `xml:"name,attr"`
	Time    junitTime   `xml:"time,attr,omitempty"`
	Failure *junitState `xml:"failure"`
	Error   *junitState `xml:"error"`
	Skipped *junitState `xml:"skipped"`
	Out     string      `xml:"system-out,omitempty"`
}

// junitTime is seconds to the millisecond, never in the form 1e-05, which viewers
// refuse.
type junitTime float64

// MarshalXMLAttr implements xml.MarshalerAttr.
func (t junitTime) MarshalXMLAttr(name xml.Name) (xml.Attr, error) {
	return xml.Attr{Name: name, Value: strconv.FormatFloat(float64(t), 'f', 3, 64)}, nil
}

type junitState struct {
	Message string `xml:"message,attr"`
	Body    string `xml:",chardata"`
}

func (s *junitSuite) add(run Run, p checker.Property) {
	c := junitCase{Class: cmp.Or(strings.Trim(run.Scenario+"."+run.lock(), "."), "dlmtest"), Name: p.Name, Out: p.Tested}
	state := &junitState{Message: p.Reason}
	switch p.Verdict {
	case checker.Violated:
		state.Body = evidence(p, run)
		c.Failure = state
	case checker.Unknown:
		c.Error = state
	case checker.NA:
		c.Skipped = state
	}
	s.put(c)
}

// put adds a case and counts it.
func (s *junitSuite) put(c junitCase) {
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
func evidence(p checker.Property, run Run) string {
	var b strings.Builder
	for i, v := range p.Violations {
		if i == 10 {
			fmt.Fprintf(&b, "and %d more\n", len(p.Violations)-i)
			break
		}
		fmt.Fprintf(&b, "%s (operations %v)\n", v.Message, v.Operations)
	}
	fmt.Fprintf(&b, "repeat: %s", shell(run.Command))
	return b.String()
}
