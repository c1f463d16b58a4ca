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
}

// publishedModels are the words of the manifest for our models.
var publishedModels = map[string]string{
	"cas-register": "cas-register", "etcd cas-register (nil init)": "cas-register", "register (0 init)": "register",
	"kv (get/put/append, partition by key)": "kv", "try-lock without unlock": "try",
}

// TestPublicHistories judges each public history, as it was written and as one
// operation a line, and wants the verdict that is known.
func TestPublicHistories(t *testing.T) {
	dir, named := os.LookupEnv("DLMTEST_HISTORIES")
	if !named {
		dir = filepath.Join("..", "..", "..", "shared", "histories")
	}
	text, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil && !named {
		t.Skipf("the public histories are not here: %v; DLMTEST_HISTORIES names their folder", err)
	}
	var all []published
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d histories, %v", dir, len(all), err)
	}
	for _, p := range all {
		for _, file := range []string{p.Norm, p.Raw} {
			if file == "" {
				continue
			}
			begun := time.Now()
			got, err := judgePublished(filepath.Join(dir, file), &p)
			if err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			t.Logf("%s: %s, expected %s, %.1f ms", file, got.Verdict, p.Expected, float64(time.Since(begun).Microseconds())/1000)
			want := map[string]models.Verdict{"valid": models.Holds, "invalid": models.Violated}[p.Expected]
			if got.Verdict != want || want == models.Unknown {
				t.Errorf("%s: %s, expected %s: %s", file, got.Verdict, p.Expected, got.Reason)
			}
		}
	}
}

func judgePublished(file string, p *published) (*judged, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	o := formats.Options{Meanings: map[string]models.F{}}
	if strings.HasPrefix(p.Model, "try-lock") {
		o.Meanings["acquire"] = models.Try // the raw file calls it so
	}
	r, err := formats.Open(in, file, o)
	if err != nil {
		return nil, err
	}
	// cas-register without more is said of Knossos's own histories, as Knossos reads them.
	m := models.Options{Lenient: p.Model == "cas-register", Ask: func(model string, o models.Options, ops []models.Op) string {
		return models.Consult(model, o, ops, time.Minute)
	}}
	if n, ok := p.Init.(float64); ok {
		m.Init = fmt.Sprint(n)
	}
	return judgeFile(publishedModels[p.Model], m, r.Events())
}
