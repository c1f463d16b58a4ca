package hunt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Files of a hunt's folder, beside its reports.
const (
	trialsFile  = "trials.jsonl"
	runsDir     = "runs"
	findingsDir = "findings"
	// SeenDir holds the histories of trials that violated what the service owes, each by the number of its trial: what does not come
	// again can be looked at all the same.
	SeenDir = "seen"
)

// mostSeen is how many of these are kept.
const mostSeen = 100

// New begins a hunt in its folder, or goes on with the one that is there.
func New(spec Spec) (*Hunt, error) {
	h := &Hunt{Spec: spec, taken: map[int]bool{}, looking: map[string]looked{}}
	if err := os.MkdirAll(spec.Dir, 0o755); err != nil {
		return nil, err
	}
	var err error
	if h.in, err = os.OpenRoot(spec.Dir); err != nil {
		return nil, err
	}
	if err = itsOwn(h.in); err == nil {
		err = h.in.MkdirAll(runsDir, 0o755)
	}
	if err == nil {
		err = h.resume()
	}
	if err == nil {
		h.trials, err = h.in.OpenFile(trialsFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return nil, errors.Join(err, h.in.Close())
	}
	return h, nil
}

// itsOwn refuses a folder of which a part is a link, or of which another user could make a link while the hunt goes on.
// A hunt removes the runs of sessions that were killed, cuts and lengthens the list of its trials, and has runs made
// below its folder.
func itsOwn(in *os.Root) error {
	parts := map[string]bool{".": true, runsDir: true, findingsDir: true, SeenDir: true, trialsFile: false, ReportFile: false}
	for name, folder := range parts {
		if err := isPart(in, name, folder); err != nil {
			return err
		}
	}
	found, err := fs.ReadDir(in.FS(), findingsDir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range found {
		err = errors.Join(err, isPart(in, filepath.Join(findingsDir, e.Name()), true))
	}
	return err
}

func isPart(in *os.Root, name string, folder bool) error {
	path := filepath.Join(in.Name(), name)
	info, err := in.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir() != folder || !info.IsDir() && !info.Mode().IsRegular():
		return fmt.Errorf("%w: %s is no part of a hunt's folder, as a link or a device is none: "+
			"put the file or folder itself in its place", runner.ErrUsage, path)
	case others(info):
		return fmt.Errorf("%w: another user can change %s while the hunt works in it: copy the folder, and go on in the copy",
			runner.ErrUsage, path)
	}
	return nil
}

// others says that another user than this one and root may change a folder.
func others(folder fs.FileInfo) bool {
	owner := folder.Sys().(*syscall.Stat_t).Uid
	return folder.IsDir() && (owner != 0 && int(owner) != os.Geteuid() || folder.Mode()&0o002 != 0)
}

// resume reads what an earlier session has left; without one it begins anew.
func (h *Hunt) resume() error {
	r, err := readIn(h.in)
	if errors.Is(err, os.ErrNotExist) {
		h.Report = &Report{Format: Format, Lock: h.Options.Label(), Settings: brief(h.Options),
			Version: h.Options.Version, Command: h.Command, Seed: h.Seed, Parallel: max(h.Parallel, 1),
			Started: time.Now().UTC().Truncate(time.Second), Next: 1, Findings: []*Finding{}, Left: []*Dismissed{}, coverage: map[Cover]Cover{}}
		if h.Shard.Count > 0 {
			h.Report.Shard = h.Shard.String()
		}
		return nil
	}
	if err != nil {
		return err
	}
	if r.Lock != h.Options.Label() {
		return fmt.Errorf("%w: %s is a hunt of %s, not of %s", runner.ErrUsage, h.Dir, r.Lock, h.Options.Label())
	}
	if len(r.Merged) > 0 {
		return fmt.Errorf("%w: %s was merged of %s; go on with one of these", runner.ErrUsage, h.Dir, strings.Join(r.Merged, ", "))
	}
	if h.Shard = (matrix.Shard{}); r.Shard != "" {
		if h.Shard, err = matrix.ParseShard(r.Shard); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(h.Dir, ReportFile), err)
		}
	}
	r.Stopped, r.Little, r.Parallel = "", "", max(h.Parallel, 1)
	h.Report, h.before, h.Seed = r, r.Seconds, r.Seed
	return errors.Join(h.refill(), h.clear())
}

// refill puts the trials of earlier sessions into the pool.
func (h *Hunt) refill() error {
	all, whole, err := readTrials(h.in)
	if err != nil {
		return err
	}
	for _, t := range all {
		h.taken[t.Number] = true
		if s, err := scenarios.Parse(trialsFile, []byte(t.Scenario)); err == nil && t.Error == "" {
			h.pool.Add(t.Number, *s, t.Seen)
		}
	}
	f, err := h.in.OpenFile(trialsFile, os.O_WRONLY, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(whole), f.Close())
}

// readTrials reads trials.jsonl. whole is how much of it are lines with an end: the last is torn
// where a hunt was killed.
func readTrials(in *os.Root) (all []Tried, whole int64, err error) {
	path := filepath.Join(in.Name(), trialsFile)
	data, err := bounded.ReadIn(in, trialsFile, mostOfTrials)
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	number, features := 0, 0
	for line := range bytes.Lines(data) {
		if number++; number > mostTrials || features > mostFeatures {
			return nil, 0, fmt.Errorf("%s: %w: a hunt has at most %d trials with %d features; begin a new one", path, bounded.ErrTooLarge,
				mostTrials, mostFeatures)
		}
		var t Tried
		if err := bounded.JSON(fmt.Sprintf("%s, line %d", path, number), line, &t); err != nil {
			return nil, 0, err
		}
		features += len(t.Seen.Features) + len(t.Violated)
		all = append(all, t)
	}
	return all, int64(len(data)), nil
}

// clear removes the runs of a session that was killed, which show nothing that is kept. A hunt counts its folders: one of
// another name is somebody else's, such as a run in the folder in which dlmtest run puts its own.
func (h *Hunt) clear() error {
	entries, err := fs.ReadDir(h.in.FS(), runsDir)
	for _, e := range entries {
		own := filepath.Join(runsDir, e.Name())
		kept := slices.ContainsFunc(h.Report.Findings, func(f *Finding) bool {
			return f.Run == own || strings.HasPrefix(f.Run, own+string(filepath.Separator))
		})
		if _, other := strconv.ParseUint(e.Name(), 10, 64); !kept && other == nil {
			err = errors.Join(err, h.in.RemoveAll(own))
		}
	}
	return err
}

// brief are the settings that are not at their default, by their flags.
func brief(o runner.Options) map[string]any {
	all := map[string]any{}
	for flag, text := range o.Settings.Brief().InWords() {
		if text != "" && text != "0" && text != "false" {
			all[flag] = text
		}
	}
	return all
}

// folder is a new one for a run alone.
func (h *Hunt) folder() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for {
		h.folders++
		dir := filepath.Join(h.Dir, runsDir, fmt.Sprint(h.folders))
		if _, err := h.in.Lstat(filepath.Join(runsDir, fmt.Sprint(h.folders))); errors.Is(err, os.ErrNotExist) {
			return dir
		}
	}
}

// keepLast keeps the folder of the last run that failed: its logs say why.
func (h *Hunt) keepLast(dir string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := h.failures
	h.failures = dir
	if old == "" {
		return nil
	}
	return h.remove(old)
}

// keepHistory keeps the history of a trial whose candidates include one that the service owes and that no lease allows, also where a stall touched it.
func (h *Hunt) keepHistory(number int, out *runner.Outcome, all []*candidate) error {
	if !slices.ContainsFunc(all, func(c *candidate) bool { return !c.Allowed && !c.stale() }) {
		return nil
	}
	if err := h.in.MkdirAll(SeenDir, 0o755); err != nil {
		return err
	}
	if kept, err := fs.ReadDir(h.in.FS(), SeenDir); err != nil || len(kept) >= mostSeen {
		return err
	}
	name, err := filepath.Rel(h.Dir, filepath.Join(out.Dir, runner.HistoryFile))
	if err != nil {
		return err
	}
	if err = h.in.Rename(name, filepath.Join(SeenDir, fmt.Sprintf("trial-%d.jsonl", number))); errors.Is(err, os.ErrNotExist) {
		return nil // nobody writes one where the folder of a run is not kept
	}
	return err
}

// forget removes a run with the folder that was made for it.
func (h *Hunt) forget(run string) error { return h.remove(filepath.Dir(run)) }

// remove removes a folder of the hunt's.
func (h *Hunt) remove(dir string) error {
	name, err := filepath.Rel(h.Dir, dir)
	if err != nil {
		return err
	}
	return h.in.RemoveAll(name)
}
