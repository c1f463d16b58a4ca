package runner

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports"
)

// ErrNotJudged says that a run has a history and no results, as one has that was
// killed.
var ErrNotJudged = errors.New("the run was not judged")

// Open reads a saved run with its judgement. Nothing is judged or written. A history
// that is cut off is a doubt, also where the judgement is older than the damage, and so
// is one that is not as it was judged: what held there need not hold here.
func Open(dir string) (*Outcome, error) {
	in, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was read
	return OpenIn(in)
}

// OpenIn is Open of a folder that is held: nothing is read outside of it.
func OpenIn(in *os.Root) (*Outcome, error) {
	saved, err := readHistory(in)
	if err != nil {
		return nil, err
	}
	dir := in.Name()
	out := &Outcome{Dir: dir, Setup: saved.setup, Ops: saved.ops}
	if out.Run, err = readRun(in); err != nil {
		return nil, err
	}
	if out.Result, err = readResults(in); err != nil {
		return nil, err
	}
	doubts := saved.doubts
	if len(doubts) == 0 && !sameHistory(in, out.Run.History) {
		doubts = []string{"The history is not the one that was judged: dlmtest check judges it as it is now."}
	}
	doubts = slices.DeleteFunc(doubts, func(d string) bool { return slices.Contains(out.Result.Doubts, d) })
	out.Result.Expected = expected(out.Run)
	checker.Doubt(out.Setup, &out.Result, doubts) // an older dlmtest gave no answers
	path := filepath.Join(dir, resultsFile)
	for _, p := range out.Result.Properties {
		for _, v := range p.Violations {
			if v.Number == 0 {
				return nil, fmt.Errorf("%s: written by an older dlmtest, which numbered no violations: dlmtest check %s", path, dir)
			}
		}
	}
	return out, nil
}

// sameHistory says whether a run's history is as run.json has it; an older dlmtest
// noted nothing of it there.
func sameHistory(in *os.Root, was *reports.HistoryFile) bool {
	if was == nil {
		return true
	}
	info, err := in.Stat(HistoryFile)
	if err != nil || info.Size() != was.Bytes {
		return err != nil // what a killed run has left was never judged
	}
	is, err := historyFileOf(in)
	return err == nil && is.SHA256 == was.SHA256
}

// mostOfResults is many times what the results of the largest run have.
const mostOfResults = 256 << 20

// readResults reads the judgement of a run.
func readResults(in *os.Root) (r checker.Result, err error) {
	dir, path := in.Name(), filepath.Join(in.Name(), resultsFile)
	data, err := bounded.ReadIn(in, resultsFile, mostOfResults)
	if errors.Is(err, os.ErrNotExist) {
		return r, fmt.Errorf("%s: %w: dlmtest check %s", path, ErrNotJudged, dir)
	}
	if err != nil {
		return r, err
	}
	if r, err = DecodeResults(path, data); err != nil {
		return r, fmt.Errorf("%w; dlmtest check %s judges the run again", err, dir)
	}
	return r, nil
}

// JudgeFile judges one file of a history of dlmtest, such as a minimal history,
// by all properties. It may be packed by gzip. Nothing is written.
func JudgeFile(path string) (*Outcome, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := &Outcome{}
	text, _, err := history.Unpack(f, 1)
	if err == nil {
		out.Setup, out.Ops, err = history.Decode(text)
	}
	if err == nil {
		err = history.Validate(out.Setup, out.Ops)
	}
	if _, known := checker.Find(out.Setup.Shows); err == nil && out.Setup.Shows != "" && !known {
		err = fmt.Errorf("line 1: setup: shows %q, which is no property; dlmtest list properties has all", out.Setup.Shows)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out.Result = checker.Judge(out.Setup, out.Ops)
	return out, nil
}
