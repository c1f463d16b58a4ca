package hunt

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/runner"
	"github.com/dlmtest/dlmtest/runner/matrix"
)

// ErrParts says that parts do not make one hunt.
var ErrParts = fmt.Errorf("%w: these do not make one hunt", runner.ErrUsage)

func partsf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrParts, fmt.Sprintf(format, args...))
}

// part is the folder of a shard.
type part struct {
	*Report
	dir    string // as it was given
	name   string // of its folder or link in the whole
	shard  matrix.Shard
	trials []Tried
}

// Merge makes one hunt of its shards, whole or not at all, as matrix.Merge does. A shard that is missing
// is told in Stopped, and where nothing was found, in Little.
func Merge(m matrix.Merging) (*Report, error) {
	var parts []part
	for _, dir := range m.Dirs {
		p, err := open(dir)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(a.shard.Index, b.shard.Index) })
	for i := range parts {
		if i > 0 {
			if err := belong(parts[0], parts[i]); err != nil {
				return nil, err
			}
			if was := parts[i-1]; was.shard == parts[i].shard && !m.AllowDuplicates {
				return nil, partsf("shard %v is %s and %s; leave one of the two out, or say --allow-duplicates to keep both",
					was.shard, was.dir, parts[i].dir)
			}
		}
		parts[i].name = fmt.Sprintf("shard-%d", parts[i].shard.Index)
		if i > 0 && strings.HasPrefix(parts[i-1].name, parts[i].name) && parts[i-1].shard == parts[i].shard {
			parts[i].name = parts[i-1].name + "-again"
		}
	}
	return build(m, parts)
}

// open reads a part with its trials.
func open(dir string) (p part, err error) {
	in, err := os.OpenRoot(dir)
	if err == nil {
		defer func() { _ = in.Close() }() // it was read
		p.Report, err = readIn(in)
	}
	if err != nil {
		return p, fmt.Errorf("%w: %s: %w; want the folder of a hunt with --shard", runner.ErrUsage, dir, err)
	}
	if p.dir = dir; p.Shard == "" {
		return p, partsf("%s is a whole hunt, or a merged one, and no shard", dir)
	}
	if p.shard, err = matrix.ParseShard(p.Shard); err != nil {
		return p, err
	}
	if p.trials, _, err = readTrials(in); err != nil {
		return p, err
	}
	judged := 0
	for _, t := range p.trials {
		if t.Error == "" {
			judged++
		}
		if t.Number%p.shard.Count != p.shard.Index%p.shard.Count {
			return p, fmt.Errorf("%s: trial %d is none of shard %v", filepath.Join(dir, trialsFile), t.Number, p.shard)
		}
	}
	if judged < p.Trials {
		return p, fmt.Errorf("%s: %d trials, where %s says %d", filepath.Join(dir, trialsFile), judged, ReportFile, p.Trials)
	}
	return p, nil
}

// belong says how two parts differ in what must be one.
func belong(a, b part) error {
	differ := func(what string, x, y any) error {
		return partsf("%s: %s has %v, %s has %v", what, a.dir, x, b.dir, y)
	}
	switch {
	case a.Version != b.Version:
		return differ("the version of dlmtest", a.Version, b.Version)
	case a.Lock != b.Lock:
		return differ("the lock", a.Lock, b.Lock)
	case a.Seed != b.Seed:
		return differ("the seed", a.Seed, b.Seed)
	case !slices.Equal(a.Command, b.Command):
		return differ("the command", strings.Join(a.Command, " "), strings.Join(b.Command, " "))
	case a.shard.Count != b.shard.Count:
		return differ("the number of shards", a.shard.Count, b.shard.Count)
	}
	return nil
}

// build makes the folder of the whole.
func build(m matrix.Merging, parts []part) (*Report, error) {
	out, err := filepath.Abs(m.Out)
	if err != nil {
		return nil, err
	}
	r := union(parts)
	return r, matrix.Whole(out, func(in *os.Root) (err error) {
		for _, p := range parts {
			if err := bring(m, p, r, in); err != nil {
				return fmt.Errorf("%s: %w", p.dir, err)
			}
		}
		h := &Hunt{}
		if h.trials, err = in.Create(trialsFile); err != nil {
			return err
		}
		for _, t := range r.tried {
			err = errors.Join(err, h.keep(t))
		}
		return errors.Join(err, h.trials.Close(), r.Save(in))
	})
}

// union is the report of the whole, whose findings still lead into the parts.
func union(parts []part) *Report {
	r := *parts[0].Report
	r.Shard, r.Findings, r.Left, r.Messages, r.coverage = "", []*Finding{}, []*Dismissed{}, nil, map[Cover]Cover{}
	r.Trials, r.Runs, r.Failed, r.Shared, r.Disturbed, r.tried = 0, 0, 0, 0, 0, nil
	seen := map[string]bool{}
	var gaps []string
	for i, p := range parts {
		r.Trials, r.Runs, r.Failed = r.Trials+p.Trials, r.Runs+p.Runs, r.Failed+p.Failed
		r.Shared, r.Disturbed = r.Shared+p.Shared, r.Disturbed+p.Disturbed
		r.Seconds, r.Next, r.Parallel = max(r.Seconds, p.Seconds), max(r.Next, p.Next), max(r.Parallel, p.Parallel)
		if p.Started.Before(r.Started) {
			r.Started = p.Started
		}
		r.Merged = append(r.Merged, p.name)
		r.tried = append(r.tried, p.trials...)
		for _, t := range p.trials {
			for _, f := range t.Seen.Features {
				seen[f] = true
			}
		}
		for _, msg := range p.Messages {
			if !slices.Contains(r.Messages, msg) {
				r.Messages = append(r.Messages, msg)
			}
		}
		r.add(p)
		if p.Stopped != "" {
			gaps = append(gaps, p.name+": "+p.Stopped)
		}
		if before := 0; i == 0 || parts[i-1].shard != p.shard {
			if i > 0 {
				before = parts[i-1].shard.Index
			}
			gaps = append(gaps, missing(before+1, p.shard.Index, p.shard.Count)...)
		}
	}
	last := parts[len(parts)-1].shard
	gaps = append(gaps, missing(last.Index+1, last.Count+1, last.Count)...)
	r.Features = len(seen)
	slices.SortStableFunc(r.tried, func(a, b Tried) int { return cmp.Compare(a.Number, b.Number) })
	r.Stopped = strings.Join(gaps, "; ")
	r.Little = r.little("see the parts")
	return &r
}

func missing(from, to, count int) (all []string) {
	for i := from; i < to; i++ {
		all = append(all, fmt.Sprintf("shard %d of %d is missing", i, count))
	}
	return all
}

// add counts what a part has covered, dismissed and found. A finding of a cause that another part has,
// too, is one.
func (r *Report) add(p part) {
	for key, c := range p.coverage {
		sum := r.coverage[key]
		r.coverage[key] = Cover{Fault: c.Fault, Trigger: c.Trigger, Tried: sum.Tried + c.Tried, Seen: sum.Seen + c.Seen,
			Missed: sum.Missed + c.Missed, Skipped: sum.Skipped + c.Skipped}
	}
	for _, d := range p.Left {
		i := slices.IndexFunc(r.Left, func(x *Dismissed) bool { return x.Cause == d.Cause })
		if i < 0 {
			own := *d
			r.Left = append(r.Left, &own)
			continue
		}
		r.Left[i].Times += d.Times
	}
	for _, f := range p.Findings {
		own := *f
		own.from = p.name
		i := slices.IndexFunc(r.Findings, func(x *Finding) bool { return x.cause().same(f.cause()) })
		switch {
		case i < 0:
			r.Findings = append(r.Findings, &own)
		case !r.Findings[i].Shrunk && f.Shrunk: // the smaller one tells more
			own.Again += r.Findings[i].Again + 1
			r.Findings[i] = &own
		default:
			r.Findings[i].Again += f.Again + 1
		}
	}
}
