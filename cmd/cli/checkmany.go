package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
)

// row is one history of a table.
type row struct {
	path   string
	judged *judged // nil: err says why
	err    error
	took   time.Duration
	source string // its own verdict, where it stands beside; else empty
}

func (r *row) verdict() models.Verdict {
	if r.judged == nil {
		return models.Unknown
	}
	return r.judged.Verdict
}

// reason is the verdict's, or why there is none.
func (r *row) reason() string {
	if r.judged == nil {
		return r.err.Error()
	}
	return r.judged.Reason
}

// checkMany judges several histories by one model and prints a table of them.
func checkMany(cmd *cobra.Command, paths []string, from *historyFlags, m *modelFlags, show *evidence) ([]row, error) {
	if show.dir != "" {
		return nil, usageError{errors.New("--evidence: give one file; each would overwrite the other's")}
	}
	var rows []row
	in := map[string]int{} // how many lie in a folder
	for _, path := range paths {
		if !isResults(path) {
			in[filepath.Dir(path)]++
		}
	}
	for _, path := range paths {
		if isResults(path) { // as DIR/*.edn names it: it is about the others
			continue
		}
		begun := time.Now()
		one, options := *from, *m
		j, _, err := judgeOne(cmd, path, &one, &options, show)
		var wrong usageError
		if errors.As(err, &wrong) {
			return nil, err
		}
		took := time.Since(begun)
		if j != nil { // of a folder it is the file in it
			path = j.File
		}
		said := ""
		if in[filepath.Dir(path)] < 2 || isStored(path) {
			said, _ = sourceVerdict(path)
		}
		rows = append(rows, row{path, j, err, took, said})
	}
	if len(rows) == 0 {
		return nil, usageError{fmt.Errorf("%s is what was found of a history, and no history", paths[0])}
	}
	return rows, nil
}

// isResults says that a file is what Jepsen found of a history.
func isResults(path string) bool {
	return strings.TrimSuffix(filepath.Base(path), packedAs) == "results.edn"
}

// isStored says that a file has the name of a history in a folder of Jepsen's, so that the
// results beside are its own also where other histories lie there.
func isStored(path string) bool {
	return slices.Contains(storedNames, strings.TrimSuffix(filepath.Base(path), packedAs))
}

// historyTable prints a line for each history.
func historyTable(w io.Writer, rows []row) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "FILE\tVERDICT\tSOURCE\tPORCUPINE\tOPERATIONS\tTIME\tWHY")
	for i := range rows {
		r := &rows[i]
		said, ops := "", 0
		if r.judged != nil {
			said, ops = r.judged.said(), r.judged.Counts.OK+r.judged.Counts.Failed+r.judged.Counts.Unknown
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d\t%.3f s\t%s\n", r.path, r.verdict(), orDash(r.source), orDash(said), ops, r.took.Seconds(), shortened(r.reason()))
	}
	return t.Flush()
}

// said is what Porcupine said of it, of the whole or of the first violation.
func (j *judged) said() string {
	if j.Oracle == "" && len(j.Violations) > 0 && j.Violations[0].Minimal != nil {
		return j.Violations[0].Minimal.Oracle
	}
	return j.Oracle
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func shortened(s string) string {
	if r := []rune(strings.ReplaceAll(s, "\n", " ")); len(r) > 100 {
		return string(r[:99]) + "…"
	}
	return s
}

// worst is the verdict of all, and an error if one of them could not be judged.
func worst(rows []row) error {
	all, wrong := models.NA, error(nil)
	for i := range rows {
		all = models.Merge(all, rows[i].verdict())
		if rows[i].judged == nil && wrong == nil {
			wrong = rows[i].err
		}
	}
	if all == models.Violated {
		return verdictError{all, nil}
	}
	return verdictError{all, wrong}
}

var validKey = regexp.MustCompile(`:valid\?\s+(true|false|:unknown)`)

// sourceVerdict is what Jepsen found of a history, in the file itself or beside it, and
// which file says so; empty: none does.
func sourceVerdict(path string) (verdict, file string) {
	words := map[string]string{"true": "valid", "false": "invalid", "unknown": "unknown", ":unknown": "unknown"}
	if filepath.Ext(strings.TrimSuffix(path, packedAs)) == ".jepsen" {
		if f, err := os.Open(path); err == nil {
			defer f.Close()
			if verdict := words[formats.StoredVerdict(f)]; verdict != "" {
				return verdict, filepath.Base(path)
			}
		}
	}
	if verdict := words[verdictBeside(path)]; verdict != "" {
		return verdict, "results.edn"
	}
	return "", ""
}

// verdictBeside is the last :valid? of results.edn, which is that of the whole, as the map
// is written with the parts first.
func verdictBeside(path string) (found string) {
	const most = 1 << 24
	beside, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return ""
	}
	defer func() { _ = beside.Close() }()                    // it was read
	text, err := bounded.ReadIn(beside, "results.edn", most) // nobody has named it
	if err != nil {
		if text, err = bounded.ReadIn(beside, "results.edn"+packedAs, most); err != nil {
			return ""
		}
		in, _, err := history.Unpack(bytes.NewReader(text), 1)
		if err != nil {
			return ""
		}
		if text, err = io.ReadAll(io.LimitReader(in, most)); err != nil {
			return ""
		}
	}
	depth := 0
	for i, c := range string(text) { // of the outermost map alone
		switch c {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			depth--
		case ':':
			if m := validKey.FindStringSubmatchIndex(string(text[i:min(len(text), i+40)])); depth == 1 && m != nil && m[0] == 0 {
				found = string(text[i+m[2] : i+m[3]])
			}
		}
	}
	return found
}

// historyJUnit writes judged histories as JUnit XML: a test case each. Unknown is an error.
func historyJUnit(w io.Writer, model string, rows []row) error {
	type state struct {
		Message string `xml:"message,attr"`
	}
	type one struct {
		Class   string `xml:"classname,attr"`
		Name    string `xml:"name,attr"`
		Time    string `xml:"time,attr"`
		Failure *state `xml:"failure"`
		Error   *state `xml:"error"`
	}
	suite := struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Cases    []one    `xml:"testcase"`
	}{Name: "dlmtest check --model " + model, Tests: len(rows)}
	for i := range rows {
		c := one{Class: model, Name: rows[i].path, Time: fmt.Sprintf("%.3f", rows[i].took.Seconds())}
		switch rows[i].verdict() {
		case models.Violated:
			c.Failure = &state{rows[i].reason()}
			suite.Failures++
		case models.Unknown:
			c.Error = &state{rows[i].reason()}
			suite.Errors++
		}
		suite.Cases = append(suite.Cases, c)
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(suite); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
