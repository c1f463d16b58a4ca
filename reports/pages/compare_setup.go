package pages

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// setting is a setting of a run, and whether runs that differ in it are still
// compared like for like: what is under test may differ.
type setting struct {
	name, value string
	tested      bool
}

// settingsOf lists what a run was set up with, as far as it is known.
func (r *Compared) settingsOf() []setting {
	p := r.setup.Promise
	yes := func(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }
	list := []setting{
		{"scenario", r.run.Scenario, false},
		{"backend", r.run.Backend, true},
		{"library", r.run.LibraryName(), true},
		{"servers", r.servers(), true},
		{"gives a lease", yes(p.Leased), true},
		{"gives a fencing token", yes(p.Token), true},
		{"keeps the order of arrival", yes(p.Order), true},
		{"lease", say.Length(cmp.Or(r.run.Lease, r.setup.Lease)), false},
		{"clients", strconv.Itoa(len(r.setup.Clients)), false},
		{"keys", strconv.Itoa(len(r.setup.Keys)), false},
		{"seed", fmt.Sprint(r.run.Seed), false},
		{"length of the load", say.Length(time.Duration(r.tracks.To - r.tracks.From).Round(100 * time.Millisecond)), true},
		{"dlmtest", r.dlmtest(), false},
		{"machine", r.run.Machine, false}, // times measured on another one say little
	}
	for _, name := range slices.Sorted(maps.Keys(r.run.Options)) {
		if slices.ContainsFunc(list, func(s setting) bool { return s.name == name }) {
			continue
		}
		list = append(list, setting{name, r.run.Options[name], name == "fsync" || name == "wait" || name == "idle-timeout"})
	}
	return list
}

// servers counts the servers by kind and version: "redis 7.0.15 × 5".
func (r *Compared) servers() string {
	var kinds []string
	n := map[string]int{}
	for _, v := range r.run.Versions {
		if kind := strings.TrimSpace(v.Server + " " + v.Version); v.Server != "dlmtest" {
			if n[kind] == 0 {
				kinds = append(kinds, kind)
			}
			n[kind]++
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s × %d", kind, n[kind])
	}
	return strings.Join(kinds, ", ")
}

// dlmtest is the version that ran the clients.
func (r *Compared) dlmtest() string {
	for _, v := range r.run.Versions {
		if v.Server == "dlmtest" {
			return v.Version
		}
	}
	return ""
}

// settings lists every setting with its value in each run, those that differ first.
func (c *Comparison) settings() []ComparedSetting {
	var names []string
	values := make([]map[string]string, len(c.Runs))
	for i, r := range c.Runs {
		values[i] = map[string]string{}
		for _, s := range r.settingsOf() {
			values[i][s.name] = s.value
			if !slices.Contains(names, s.name) {
				names = append(names, s.name)
			}
		}
	}
	var rows []ComparedSetting
	for _, name := range names {
		row := ComparedSetting{Name: name}
		known := false
		for i := range c.Runs {
			row.Values = append(row.Values, values[i][name])
			row.Differs = row.Differs || values[i][name] != values[0][name]
			known = known || values[i][name] != ""
		}
		if known {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b ComparedSetting) int { return cmp.Compare(timeline.Flag(b.Differs), timeline.Flag(a.Differs)) })
	return rows
}

// unlike says in which settings these runs differ beside what is under test.
func (c *Comparison) unlike() []string {
	tested := map[string]bool{}
	for _, r := range c.Runs {
		for _, s := range r.settingsOf() {
			tested[s.name] = tested[s.name] || s.tested
		}
	}
	all := []string{}
	for _, row := range c.Setup {
		if row.Differs && !tested[row.Name] {
			values := make([]string, len(row.Values))
			for i, v := range row.Values {
				values[i] = cmp.Or(v, "not known") + " (" + c.Runs[i].Name + ")"
			}
			all = append(all, row.Name+": "+strings.Join(values, ", "))
		}
	}
	return all
}

// name gives each run a name that tells it from the others, as short as can be.
func (c *Comparison) name() {
	part := []func(r *Compared) string{
		func(r *Compared) string { return cmp.Or(r.run.Lock(), "a lock") },
		func(r *Compared) string { return r.run.Scenario },
		func(r *Compared) string { return r.servers() },
		func(r *Compared) string { return "lease " + say.Length(cmp.Or(r.run.Lease, r.setup.Lease)) },
		func(r *Compared) string { return say.Count(len(r.setup.Clients), "client") },
		func(r *Compared) string { return "seed " + fmt.Sprint(r.run.Seed) },
		func(r *Compared) string { return r.run.ID },
	}
	most, fewest := 0, 0 // of sets of parts by their bits, each with the lock: what tells most apart, with the fewest parts
	for set := 1; set < 1<<len(part); set += 2 {
		apart := distinct(c.Runs, func(r *Compared) string { return r.called(part, set) })
		if apart > most || apart == most && bits.OnesCount(uint(set)) < bits.OnesCount(uint(fewest)) {
			most, fewest = apart, set
		}
	}
	for _, r := range c.Runs {
		r.Name = r.called(part, fewest)
	}
	for i, r := range c.Runs { // one folder twice
		if slices.ContainsFunc(c.Runs[:i], func(o *Compared) bool { return o.Name == r.Name }) {
			r.Name = fmt.Sprintf("%s, run %d", r.Name, i+1)
		}
	}
}

// called is a name of those parts whose bits are set.
func (r *Compared) called(part []func(*Compared) string, set int) string {
	var words []string
	for i, of := range part {
		if set&(1<<i) != 0 {
			words = append(words, of(r))
		}
	}
	return strings.Join(words, ", ")
}

func distinct(runs []*Compared, of func(*Compared) string) int {
	seen := map[string]bool{}
	for _, r := range runs {
		seen[of(r)] = true
	}
	return len(seen)
}
