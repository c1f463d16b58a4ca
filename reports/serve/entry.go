package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/scratch"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// entry is a folder as a list shows it.
type entry struct {
	Name    string
	Kind    string // run, matrix, hunt, or folder
	Title   string
	Started time.Time
	Verdict reports.Outcome // "" where there is none
	Says    string          // the verdict, or why there is none, in words
	More    string          // which properties, or how many cells
	Answers []reports.Tile  // the answers to the questions that head a report; none: nothing was judged
	Odd     bool            // these are not as expected
	Report  string          // the page, relative to the list; "": none
}

// mostRead is how much of a file is read for a list.
const mostRead = 64 << 20

// mostOfAList is how much is read anew for one page of a folder, which somebody waits for. What comes after it has its
// turn when the page is loaded again: what was read before is kept.
const mostOfAList = 4 * mostRead

// mostEntries is how much of a folder is listed, and longestTitle and longestMore how many letters of what a folder says
// of itself: an entry is kept, and stands in every page.
const (
	mostEntries  = 50_000
	longestTitle = 200
	longestMore  = 1000
)

// later is what a list says of a folder for which nothing is left of mostOfAList.
const later = "not read yet: load the page again"

// cache keeps entries as long as the files that they were made of are the same.
type cache struct {
	mu    sync.Mutex
	known map[string]cached
}

type cached struct {
	stamp string
	entry entry
}

// entryOf describes a folder. left is what may still be read for the list, and becomes less.
func (s *Server) entryOf(name string, left *int64) entry {
	stamp, bytes := s.stamp(name)
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if c, ok := s.cache.known[name]; ok && c.stamp == stamp {
		return c.entry
	}
	if bytes > *left {
		return entry{Name: path.Base(name), Kind: "run", Title: path.Base(name), Says: later}
	}
	*left -= bytes
	e := s.read(name)
	if s.cache.known == nil || len(s.cache.known) > 10_000 {
		s.cache.known = map[string]cached{}
	}
	if e.Says != goesOn { // that ends without a change of a file's time
		s.cache.known[name] = cached{stamp, e}
	}
	return e
}

// stamp changes when an entry does. bytes is how much is read to make it.
func (s *Server) stamp(name string) (stamp string, bytes int64) {
	var b strings.Builder
	for _, file := range []string{"results.json", "run.json", "index.json", huntFile, "history.jsonl", "history.jsonl.part", "report.html"} {
		if info, err := s.stat(path.Join(name, file)); err == nil {
			b.WriteString(file + info.ModTime().String() + "\n")
			if strings.HasSuffix(file, ".json") && info.Size() <= mostRead {
				bytes += info.Size()
			}
		}
	}
	return b.String(), bytes
}

// What a list says of runs without a verdict.
const (
	goesOn    = "still going on"
	killed    = "was killed before its end"
	notJudged = "not judged"
	broken    = "its files cannot be read"
)

func (s *Server) read(name string) entry {
	e := entry{Name: path.Base(name), Kind: "folder", Title: path.Base(name)}
	if info, err := s.stat(name); err == nil {
		e.Started = info.ModTime()
	}
	switch {
	case s.Hunt != nil && s.has(name, huntFile):
		s.readHunt(name, &e)
	case s.has(name, "index.json"):
		s.readMatrix(name, &e)
	case s.has(name, "history.jsonl"), s.has(name, "history.jsonl.part"), s.has(name, "run.json"):
		s.readRun(name, &e)
	}
	e.clip()
	return e
}

func (s *Server) has(dir, file string) bool {
	info, err := s.stat(path.Join(dir, file))
	return err == nil && info.Mode().IsRegular()
}

func (s *Server) readMatrix(name string, e *entry) {
	e.Kind, e.Title, e.Says, e.Verdict = "matrix", "matrix", broken, reports.Failed
	var x pages.Index
	if s.decode(path.Join(name, "index.json"), &x) != nil || x.Format > pages.IndexFormat {
		return
	}
	e.Title = strings.Join([]string{few(x.Scenarios), few(x.Backends)}, " × ")
	e.Started, e.Verdict, e.Says, e.More = x.Started, x.Worst(), x.Worst().Words(), x.Summary()
	e.answer(x.Answers(), x.Differs())
	if s.has(name, "index.html") {
		e.Report = "index.html"
	}
	switch {
	case x.Ended:
	case s.held(name):
		e.Says = goesOn
	default:
		e.More = killed + "; " + e.More
	}
}

// few names two and counts the others.
func few(names []string) string {
	if len(names) > 2 {
		return strings.Join(names[:2], ", ") + ", …"
	}
	return strings.Join(names, ", ")
}

func (s *Server) readRun(name string, e *entry) {
	e.Kind, e.Says = "run", notJudged
	var run struct {
		Scenario, Backend, Library string
		Started                    time.Time
		State                      reports.RunState
	}
	if err := s.decode(path.Join(name, "run.json"), &run); err == nil {
		e.Title, e.Started = cmp.Or(strings.Trim(run.Scenario+" × "+history.LockName(run.Backend, run.Library), " ×"), e.Name), run.Started
	}
	if s.has(name, "report.html") {
		e.Report = "report.html"
	}
	var result struct {
		Verdict    checker.Verdict
		Answers    *checker.Answers // nil: of an older dlmtest
		Differs    []checker.Difference
		Properties []struct {
			Name    string
			Verdict checker.Verdict
		}
	}
	err := s.decode(path.Join(name, "results.json"), &result)
	switch {
	case err == nil:
		var of []string
		for _, p := range result.Properties {
			if p.Verdict == result.Verdict && (p.Verdict == checker.Violated || p.Verdict == checker.Unknown) {
				of = append(of, p.Name)
			}
		}
		e.Verdict, e.More = reports.OutcomeOf(result.Verdict), strings.Join(of, ", ")
		e.Says = e.Verdict.Words()
		if result.Answers != nil {
			e.answer(*result.Answers, result.Differs)
		}
		if run.State == reports.Killed {
			e.More = strings.TrimSuffix("the run "+killed+"; "+e.More, "; ")
		}
	case !errors.Is(err, fs.ErrNotExist):
		e.Says, e.Verdict = broken, reports.Failed
	case s.running(name):
		e.Says = goesOn
	case run.State == reports.Running:
		e.Says = killed + ", " + notJudged
	}
}

// answer notes the answers of a run, or of a matrix.
func (e *entry) answer(a checker.Answers, differs []checker.Difference) {
	e.Answers, e.Odd = reports.AnswerTiles(a, differs), !a.AsExpected
}

// held says whether a living process works in a folder.
func (s *Server) held(name string) bool {
	f, err := s.root.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	return scratch.Held(f)
}

// running says whether a run goes on, or somebody still writes its history.
func (s *Server) running(name string) bool {
	if s.held(name) {
		return true
	}
	f, _, err := s.open(path.Join(name, "history.jsonl.part"))
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func (s *Server) decode(name string, into any) error {
	f, info, err := s.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	if info.Size() > mostRead {
		return errors.New("too big for a list")
	}
	data, err := io.ReadAll(io.LimitReader(f, mostRead))
	if err != nil {
		return err
	}
	if err := bounded.Values(name, data); err != nil {
		return err
	}
	return json.NewDecoder(bytes.NewReader(data)).Decode(into)
}

// entries are the folders in a folder that hold runs, the newest first, and the rest.
func (s *Server) entries(dir string) (runs []entry, rest []fs.FileInfo, err error) {
	f, err := s.root.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	all, err := f.ReadDir(mostEntries)
	if errors.Is(err, io.EOF) { // it is empty
		err = nil
	}
	left := int64(mostOfAList)
	for _, d := range all {
		name := path.Join(dir, d.Name())
		info, statErr := s.stat(name)
		if strings.HasPrefix(d.Name(), ".") || statErr != nil { // a link, or gone meanwhile
			continue
		}
		if e := (entry{}); info.IsDir() {
			if e = s.entryOf(name, &left); e.Kind != "folder" {
				runs = append(runs, e)
				continue
			}
		}
		rest = append(rest, info)
	}
	slices.SortFunc(runs, func(a, b entry) int { return cmp.Or(b.Started.Compare(a.Started), cmp.Compare(b.Name, a.Name)) })
	slices.SortFunc(rest, func(a, b fs.FileInfo) int { return cmp.Compare(a.Name(), b.Name()) })
	return runs, rest, err
}
