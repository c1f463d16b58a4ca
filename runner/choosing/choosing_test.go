package choosing

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// recorded is the evidence of the page.
func recorded(t testing.TB) Evidence {
	t.Helper()
	e, err := Read("../../docs/choosing.json")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// The page is what its record says, and the README's table is its short form.
func TestPage(t *testing.T) {
	e := recorded(t)
	if err := e.enough(); err != nil {
		t.Fatal(err)
	}
	var page, short bytes.Buffer
	if err := errors.Join(Markdown(&page, e), Short(&short, e)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "../../docs/choosing.md", page.Bytes())
	readme, err := os.ReadFile("../../README.md")
	if err != nil || !bytes.Contains(readme, short.Bytes()) {
		t.Errorf("README.md has another table (%v); dlmtest report choosing --record docs/choosing.json --short prints it:\n%s", err, short.String())
	}
}

// change gives a lock other answers in a scenario.
func change(e Evidence, lock, scenario string, to func(*Seen)) Evidence {
	e.Locks = slices.Clone(e.Locks)
	for i := range e.Locks {
		e.Locks[i].Shown = slices.Clone(e.Locks[i].Shown)
		for n := range e.Locks[i].Shown {
			if s := &e.Locks[i].Shown[n]; e.Locks[i].Name() == lock && (scenario == "" || s.Scenario == scenario) {
				s.Runs = slices.Clone(s.Runs)
				for r := range s.Runs {
					to(&s.Runs[r])
				}
			}
		}
	}
	return e
}

// What is advised follows from what was shown: one answer that is no, or not known, is enough to lose it.
func TestAdviceFollows(t *testing.T) {
	e := recorded(t)
	const checksTokens, redisAlone, outside = 1, 3, 4
	if !strings.Contains(e.needs()[checksTokens].Take, "`etcd`") {
		t.Fatalf("%+v", e.needs())
	}
	for name, to := range map[string]func(*Seen){
		"promise broken":    func(s *Seen) { s.Answers.Promise = checker.No },
		"promise not known": func(s *Seen) { s.Answers.Promise = checker.NotKnown },
		"fence failed":      func(s *Seen) { s.Answers.Fenced = checker.No },
		"fence not known":   func(s *Seen) { s.Answers.Fenced = checker.NotKnown },
	} {
		for _, scenario := range []string{clocks, parted, stopped} {
			if take := change(e, "etcd", scenario, to).needs()[checksTokens].Take; strings.Contains(take, "`etcd`") {
				t.Errorf("%s in %s: still %s", name, scenario, take)
			}
		}
	}
	saved := change(e, "redis", "", func(s *Seen) {
		s.Answers = checker.Answers{Promise: checker.Yes, Unfenced: checker.Yes, Fenced: checker.Yes, WentOn: checker.Yes}
	})
	if n := saved.needs()[redisAlone]; n.Take != "`redis`" {
		t.Errorf("redis has saved everything, and the advice is %+v", n)
	}
	once := change(e, "redis", charged, func(s *Seen) { s.Once = &Once{checker.Yes, checker.Yes} })
	if n := once.needs()[outside]; !strings.HasPrefix(n.Fencing, "not decided: `redis`") {
		t.Errorf("a fence helped, and the advice is %+v", n)
	}
	twice := change(e, "redis", chargedOnce, func(s *Seen) { s.Once = &Once{checker.No, checker.No} })
	if n := twice.needs()[outside]; strings.Contains(n.Take, "`redis`") || strings.HasPrefix(n.Take, "any") {
		t.Errorf("the key did not help, and the advice is %+v", n)
	}
}

// A matrix that lacks a scenario gives no page, and its error says which.
func TestTooLittleIsRefused(t *testing.T) {
	for _, lacks := range append(slices.Clone(told), "reads") {
		e := recorded(t)
		for i := range e.Locks {
			e.Locks[i].Shown = slices.DeleteFunc(e.Locks[i].Shown, func(s Shown) bool {
				return s.Scenario == lacks || lacks == "reads" && s.FenceOn == history.OnRead
			})
		}
		if err := e.enough(); !errors.Is(err, errThin) || lacks != "reads" && !strings.Contains(err.Error(), lacks) {
			t.Errorf("without %s: %v", lacks, err)
		}
	}
	if _, err := Gather([]string{t.TempDir()}); err == nil {
		t.Error("a folder without a matrix is evidence")
	}
}

// A record kept a number of runs once, and not the runs.
func TestOlderRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "choosing.json")
	if err := os.WriteFile(path, []byte(`{"locks":[{"backend":"redis","shown":[{"scenario":"baseline","runs":1}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(path); err == nil || !strings.Contains(err.Error(), "runs is a number: another dlmtest wrote it") {
		t.Error(err)
	}
}

func TestKinds(t *testing.T) {
	if got := kinds([]string{"redis-1", "redis-2", "sentinel-1"}); got != "2 redis, 1 sentinel" {
		t.Error(got)
	}
}

// What is kept is read again, and whatever a record says, it is a page or an error.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("../../docs/choosing.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"locks":[{"backend":"redis"}],"capacity":[{"rows":[{"what":","}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "choosing.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Read(path)
		if err != nil {
			return
		}
		var page, again bytes.Buffer
		if err := errors.Join(Markdown(&page, e), save(path, e.Write)); err != nil {
			t.Fatal(err)
		}
		if e, err = Read(path); err != nil {
			t.Fatal(err)
		}
		if err := Markdown(&again, e); err != nil || !bytes.Equal(page.Bytes(), again.Bytes()) {
			t.Errorf("%v: another page\n%s\nthan before\n%s", err, again.String(), page.String())
		}
	})
}

func save(path string, write func(io.Writer) error) error {
	var text bytes.Buffer
	return errors.Join(write(&text), os.WriteFile(path, text.Bytes(), 0o600))
}
