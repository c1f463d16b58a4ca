package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// TestGolden judges each history in testdata and compares the result with the file beside
// it: the property under test whole, of the others the verdict. The name of a history begins with the verdict that its
// property must get; holds-na stands for n/a.
func TestGolden(t *testing.T) {
	if *golden.Update {
		writeScenes(t)
	}
	files, err := filepath.Glob("testdata/*/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	fenceds, err := filepath.Glob("testdata/*/*/*.jsonl") // no-lost-update has two copies
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, fenceds...)
	have := map[string]bool{}
	for _, file := range files {
		property := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "testdata/")
		want, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".jsonl"), "-")
		if strings.HasSuffix(file, "-na.jsonl") {
			want = "n/a"
		}
		have[property+" "+want] = true
		t.Run(property+"/"+filepath.Base(file), func(t *testing.T) { compare(t, file, property, want) })
	}
	for _, c := range Checkers {
		if c.use != "" { // see TestUses
			continue
		}
		for _, verdict := range []Verdict{Holds, Violated, Unknown} {
			if !have[c.Name+" "+verdict.String()] {
				t.Errorf("no golden history in which %s is %s", c.Name, verdict)
			}
		}
	}
}

func compare(t *testing.T, file, property, want string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	setup, ops, err := history.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Validate(setup, ops); err != nil {
		t.Fatal(err)
	}
	result := Judge(setup, ops)
	p := result.Property(property)
	if p == nil || p.Verdict.String() != want {
		t.Errorf("got %+v, want %s", p, want)
	}
	expected := strings.TrimSuffix(file, ".jsonl") + ".golden"
	golden.Compare(t, expected, summary(t, result, property))
}

// summary is what a golden file keeps of a result. What another property says in words is
// kept by the histories of that property.
func summary(t *testing.T, r Result, property string) []byte {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "verdict %s\n", r.Verdict)
	for _, a := range []struct {
		reply    Reply
		sentence string
	}{{r.Answers.Promise, "promise: " + r.Sentences.Promise}, {r.Answers.Unfenced, "data, unfenced: " + r.Sentences.Unfenced},
		{r.Answers.Fenced, "data, fenced: " + r.Sentences.Fenced}, {r.Answers.WentOn, "went on: " + r.Sentences.WentOn}} {
		fmt.Fprintf(&b, "%s: %s\n", a.reply, a.sentence)
	}
	fmt.Fprintf(&b, "as expected: %v\n", r.Answers.AsExpected)
	others := map[Verdict][]string{}
	for _, p := range r.Properties {
		if p.Name != property {
			others[p.Verdict] = append(others[p.Verdict], p.Name)
		}
	}
	for _, v := range []Verdict{Violated, Unknown, Holds, NA} {
		if len(others[v]) > 0 {
			fmt.Fprintf(&b, "others %s: %s\n", v, strings.Join(others[v], ", "))
		}
	}
	for _, doubt := range r.Doubts {
		fmt.Fprintf(&b, "doubt %s\n", doubt)
	}
	counts, err := json.Marshal(r.Counts)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "counts %s\nfirst violation %d\n", counts, r.FirstViolation)
	whole, err := json.MarshalIndent(r.Property(property), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(append(b.Bytes(), lists.ReplaceAllFunc(whole, oneLine)...), '\n')
}

// lists of operations fill a line, and not one for each of them.
var lists = regexp.MustCompile(`\[[-\d,\s]+\]`)

func oneLine(list []byte) []byte {
	return []byte("[" + strings.Join(strings.Fields(string(list[1:len(list)-1])), " ") + "]")
}

func writeScenes(t *testing.T) {
	if err := os.RemoveAll("testdata"); err != nil {
		t.Fatal(err)
	}
	for property, byName := range scenes {
		dir := filepath.Join("testdata", property)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, scene := range byName {
			b := newBuilder()
			scene(b)
			setup, ops := b.done()
			var file bytes.Buffer
			if err := history.Encode(&file, setup, ops); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), file.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
