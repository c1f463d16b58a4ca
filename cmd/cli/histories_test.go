package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
)

// published is one history that others recorded or wrote, and what it is.
type published struct {
	Norm     string `json:"norm"`
	Raw      string `json:"raw"`
	Model    string `json:"model"`
	Init     any    `json:"init"`
	Expected string `json:"expected"`
	ValueIs  string `json:"-"` // see formats.Options
}

// publishedModels are the words of the manifest for our models.
var publishedModels = map[string]string{
	"cas-register": "cas-register", "etcd cas-register (nil init)": "cas-register", "register (0 init)": "register",
	"kv (get/put/append, partition by key)": "kv", "try-lock without unlock": "try",
	"mutex": "mutex", "lease": "lease", "claims": "claims",
}

// histories is the folder of the public histories, or nothing where it is not here.
func histories(t *testing.T) string {
	dir, named := os.LookupEnv("DLMTEST_HISTORIES")
	if !named {
		dir = filepath.Join("..", "..", "..", "shared", "histories")
	}
	if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err != nil && !named {
		t.Skipf("the public histories are not here: %v; DLMTEST_HISTORIES names their folder", err)
	} else if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPublicHistories judges each public history, as it was written and as one
// operation a line, and wants the verdict that is known, and Porcupine to agree. It logs
// one table of them all: make check-histories prints it.
func TestPublicHistories(t *testing.T) {
	dir := histories(t)
	var all []published
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d histories, %v", dir, len(all), err)
	}
	var rows []row
	for _, p := range append(each2(all), lockHistories(t, dir)...) {
		begun := time.Now()
		got, err := judgePublished(filepath.Join(dir, p.Norm), &p)
		r := row{path: fmt.Sprintf("%s (%s)", p.Norm, p.ours()), judged: got, err: err, took: time.Since(begun), source: p.Expected}
		rows = append(rows, r)
		want := map[string]models.Verdict{"valid": models.Holds, "invalid": models.Violated}[p.Expected]
		switch {
		case err != nil:
			t.Errorf("%s: %v", p.Norm, err)
		case got.Verdict != want || want == models.Unknown:
			t.Errorf("%s: %s, expected %s: %s", p.Norm, got.Verdict, p.Expected, got.Reason)
		case got.Oracle != models.Confirmed:
			t.Errorf("%s: Porcupine says %q", p.Norm, got.Oracle)
		}
	}
	var out strings.Builder
	if err := historyTable(&out, rows); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d readings of histories\n%s", len(rows), out.String())
}

// each2 lists each history as it was written and as one operation a line.
func each2(all []published) (both []published) {
	for _, p := range all {
		for _, file := range []string{p.Norm, p.Raw} {
			if q := p; file != "" {
				q.Norm = file
				both = append(both, q)
			}
		}
	}
	return both
}

// ours is our model's name for the manifest's.
func (p *published) ours() string { return publishedModels[p.Model] }

// lockHistories are those of locks/MANIFEST.md: the rows of its table.
func lockHistories(t *testing.T, dir string) (all []published) {
	text, err := os.ReadFile(filepath.Join(dir, "locks", "MANIFEST.md"))
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) < 4 || strings.Contains(cells[0], "---") || strings.TrimSpace(cells[0]) == "file" {
			continue
		}
		p := published{Norm: filepath.Join("locks", strings.TrimSpace(cells[0])), Expected: strings.TrimSpace(cells[2])}
		words := strings.TrimSpace(cells[1])
		if words == "the same" {
			words = before
		}
		before = words
		p.ValueIs = map[bool]string{true: "key"}[strings.Contains(words, "value is the key")]
		if strings.Contains(words, "value is the answer") {
			p.ValueIs = "answer"
		}
		readings := []string{p.ValueIs}
		if strings.Contains(words, "either reading") {
			readings = []string{"key", "owner"}
		}
		for _, name := range []string{"mutex", "lease", "claims"} {
			for _, reading := range readings {
				if q := p; strings.Contains(words, name) {
					q.Model, q.ValueIs = name, reading
					all = append(all, q)
				}
			}
		}
	}
	if len(all) < 10 {
		t.Fatalf("%d readings in the manifest of locks", len(all))
	}
	return all
}

func judgePublished(file string, p *published) (*judged, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := formats.Options{Meanings: map[string]models.F{}, ValueIs: p.ValueIs}
	if strings.HasPrefix(p.Model, "try-lock") {
		o.Meanings["acquire"] = models.Try // the raw file calls it so
	}
	r, err := formats.Open(in, file, o)
	if err != nil {
		return nil, err
	}
	// cas-register without more is said of Knossos's own histories, as Knossos reads them.
	m := models.Options{Lease: time.Microsecond, Lenient: p.Model == "cas-register", Ask: func(model string, o models.Options, ops []models.Op) string {
		return models.Consult(model, o, ops, time.Minute)
	}}
	if n, ok := p.Init.(float64); ok {
		m.Init = fmt.Sprint(n)
	}
	var events []models.Event
	for e, err := range r.Events() {
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	j, err := judgeFile(p.ours(), m, each(events))
	if err != nil {
		return nil, err
	}
	model, _ := models.Named(p.ours())
	models.Confirm(model, m, events, m.Ask, &j.Result)
	return j, nil
}
