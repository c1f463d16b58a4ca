package formats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// drain reads everything; what it says is one line an event.
func drain(in io.Reader, o Options) (format, told string, events []models.Event, err error) {
	r, err := Open(in, "file", o)
	if err != nil {
		return "", "", nil, err
	}
	var b strings.Builder
	for e, err := range r.Events() {
		if err != nil {
			return r.Format, b.String(), events, err
		}
		events = append(events, e)
		fmt.Fprintf(&b, "%d: %d %s %s", e.Line, e.Process, e.Type, e.F)
		for _, f := range []struct{ name, text string }{{"key", e.Key}, {"old", e.Old}, {"value", e.Value}, {"owner", e.Owner}, {"note", e.Note}} {
			if f.text != "" {
				fmt.Fprintf(&b, " %s=%q", f.name, f.text)
			}
		}
		for _, f := range []struct {
			name string
			n    int64
		}{{"time", e.Time}, {"token", e.Token}, {"lease", e.Lease}} {
			if f.n != 0 {
				fmt.Fprintf(&b, " %s=%d", f.name, f.n)
			}
		}
		b.WriteByte('\n')
	}
	if text := r.LeftOut(); text != "" {
		fmt.Fprintf(&b, "left out: %s\n", text)
	}
	return r.Format, b.String(), events, nil
}

// TestFormats reads one small file of each format and layout, in one piece and
// byte by byte.
func TestFormats(t *testing.T) {
	for _, c := range []struct {
		file, format string
		o            Options
		golden       string
	}{
		{"vector.edn", "jepsen", Options{}, ""},
		{"lines.edn", "jepsen", Options{}, ""},
		{"list.edn", "jepsen", Options{}, ""},
		{"jepsen.log", "jepsen-log", Options{}, ""},
		{"kv.txt", "kv", Options{}, ""},
		{"elle.json", "elle", Options{}, ""},
		{"operations.jsonl", "operations", Options{}, ""},
		{"history.jsonl", "dlmtest", Options{}, ""},
		{"history.jsonl", "dlmtest", Options{Part: PartFenced}, "fenced"},
		{"history.jsonl", "dlmtest", Options{Part: PartUnfenced}, "unfenced"},
	} {
		name := filepath.Join("testdata", c.file)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		format, got, _, err := drain(strings.NewReader(string(text)), c.o)
		if err != nil || format != c.format {
			t.Errorf("%s %v: format %s, %v", c.file, c.o, format, err)
			continue
		}
		golden.Compare(t, name+c.golden+".events", []byte(got))
		_, slow, _, err := drain(iotest.OneByteReader(strings.NewReader(string(text))), c.o)
		if err != nil || slow != got {
			t.Errorf("%s byte by byte: %v\n%s", c.file, err, slow)
		}
		testCuts(t, c.file, string(text), c.o, got)
	}
}

// testCuts reads every beginning of a file: none that ends within an operation
// may be taken for a whole one, and none gives an event that the whole file does not.
func testCuts(t *testing.T, name, text string, o Options, whole string) {
	o.Format, _ = Detect([]byte(text))
	end := len(strings.TrimRight(text, "\n"))
	for n := 0; n < end; n += 1 + min(6, (end-n)/16) { // every byte at the end, fewer before
		_, got, _, err := drain(strings.NewReader(text[:n]), o)
		if err != nil {
			continue
		}
		got, _, _ = strings.Cut(got, "left out")
		for line := range strings.Lines(got) {
			if !strings.Contains(whole, line) {
				t.Errorf("%s cut after %d bytes is read as\n%s", name, n, got)
			}
		}
		if last := strings.TrimRight(text[:n], " \n\r\t"); strings.ContainsAny(text[end-1:end], "])") || !strings.HasSuffix(last, "}") && o.Format != "jepsen-log" {
			t.Errorf("%s cut after %d bytes is taken for a whole one: …%q", name, n, text[max(0, n-20):n])
		}
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("the disk broke")
	for _, start := range []string{"", "[{:process 0, :type :invoke, :f :read}", "{:process 0, :type :invoke, :f :read}\n", `[{"process": 0, "type": "invoke", "f": "read"},`,
		`{"process": 0, "type": "invoke", "f": "read"}`, "INFO jepsen.util - 0\t:invoke\t:read\tnil\n", `{"process":0,"f":"read","call":0,"out":"open"}`} {
		in := io.MultiReader(strings.NewReader(start+strings.Repeat(" ", looked)), iotest.ErrReader(broken))
		if start == "" {
			in = iotest.ErrReader(broken)
		}
		if _, _, _, err := drain(in, Options{}); !errors.Is(err, broken) {
			t.Errorf("%q: got %v", start, err)
		}
	}
}
