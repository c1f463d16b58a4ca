package serve

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/reports"
)

// A hunt is listed as its reader tells it; one that cannot be read is listed with the reason.
func TestHuntIsListed(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"good", "torn"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{huntFile: name, "index.html": "<!doctype html>"} {
			if err := os.WriteFile(filepath.Join(dir, name, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Hunt = func(name string, data []byte) (Listed, error) {
		if string(data) != "good" {
			return Listed{}, errors.New(name + ": field trials is missing")
		}
		return Listed{Title: "redis", Started: time.Unix(9, 0), Verdict: reports.Violates, More: "1 finding"}, nil
	}
	e := s.listedAs("good")
	if e.Kind != "hunt" || e.Title != "redis" || e.Verdict != reports.Violates || e.Says == "" || e.More != "1 finding" || e.Report != "index.html" {
		t.Errorf("%+v", e)
	}
	if e = s.listedAs("torn"); e.Kind != "hunt" || e.Verdict != reports.Failed || e.Says != broken || e.More != "hunt.json: field trials is missing" || e.Report != "" {
		t.Errorf("%+v", e)
	}
}
