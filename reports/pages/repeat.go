package pages

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/reports/say"
	"github.com/dlmtest/dlmtest/reports/timeline"
)

// repeat is what a page says of how a run came about, beside its command.
type repeat struct {
	Seed       string
	Faults     []faultRow
	MoreFaults string
	History    *historyRow
	Nodes      []nodeRow
	Configs    []configRow
}

// faultRow is one line of the log of faults: what was planned, what was seen.
type faultRow struct {
	Name, Planned, On, Begun, Proof, Healed string
	Missed                                  bool
}

type historyRow struct{ Name, Size, SHA256 string }

type nodeRow struct{ Name, Role, Addr, Server, Image string }

// configRow is the configuration of the nodes that share it.
type configRow struct{ Nodes, Text string }

// mostFaultRows is how many faults a page lists; the history has all.
const mostFaultRows = 100

func repeatOf(t *timeline.View, run reports.Run) repeat {
	r := repeat{Faults: faultLog(t, run), Configs: configs(run.Nodes)}
	if run.Seed != 0 {
		r.Seed = fmt.Sprintf("The seed is %d. The same seed makes the same choices and the same random schedule; what "+
			"real processes do in between stays theirs.", run.Seed)
	}
	if more := len(r.Faults) - mostFaultRows; more > 0 {
		r.Faults, r.MoreFaults = r.Faults[:mostFaultRows], fmt.Sprintf("And %s more, in history.jsonl.", say.Thousands(more))
	}
	if h := run.History; h != nil {
		r.History = &historyRow{h.Name, bytesText(h.Bytes), h.SHA256}
	}
	for _, n := range run.Nodes {
		row := nodeRow{Name: n.Name, Role: string(n.Role), Addr: n.Addr}
		if i := slices.IndexFunc(run.Versions, func(v reports.NodeVersion) bool { return v.Node == n.Name }); i >= 0 {
			v := run.Versions[i]
			row.Server, row.Image = strings.TrimSpace(v.Server+" "+v.Version), v.Image
		}
		r.Nodes = append(r.Nodes, row)
	}
	return r
}

// faultLog lists every fault, those that never came too.
func faultLog(t *timeline.View, run reports.Run) (rows []faultRow) {
	for _, e := range t.Episodes() {
		f := e.Victims[0]
		row := faultRow{Name: fmt.Sprintf("%d, %s", f.ID, e.Kind), Planned: planned(run, f.ID), On: e.Names(), Begun: "never", Healed: "–"}
		s := t.During(e)
		if slices.ContainsFunc(e.Victims, func(f *trace.Fault) bool { return f.Begin >= 0 }) {
			row.Begun, row.Healed = say.Seconds(s.From-t.Begin), "never"
			if e.End >= 0 {
				row.Healed = say.Seconds(s.To-t.Begin) + ", after " + say.Length(s.Length())
			}
		}
		row.Proof, row.Missed = proof(t, e)
		rows = append(rows, row)
	}
	for i := range t.Ops {
		if note := t.Ops[i].Fault; note != nil && note.Phase == history.Skipped {
			rows = append(rows, faultRow{Name: fmt.Sprintf("%d, %s", note.ID, note.Kind), Planned: planned(run, note.ID), On: note.Target,
				Begun: "skipped", Proof: note.Proof, Healed: "–"})
		}
	}
	return rows
}

// proof is what was seen at the victims, and when.
func proof(t *timeline.View, e *timeline.Episode) (text string, missed bool) {
	seen, first, at := 0, "", int64(0)
	for _, f := range e.Victims {
		switch {
		case f.Missed:
			missed = true
			first = f.Proof
		case f.Seen >= 0:
			seen++
			if !missed && first == "" {
				first, at = t.Ops[f.Seen].Fault.Proof, t.Ops[f.Seen].Time
			}
		}
	}
	switch {
	case missed:
		return "not seen: " + say.Sentence(first), true
	case seen == 0:
		return "nothing was recorded", true
	case len(e.Victims) > 1:
		text = fmt.Sprintf("at %d of %d nodes; ", seen, len(e.Victims))
	}
	return fmt.Sprintf("%sat %s: %s", text, say.Seconds(at-t.Begin), say.Sentence(first)), seen < len(e.Victims)
}

// planned is what the scenario, or the random schedule, asked for.
func planned(run reports.Run, id int) string {
	for _, p := range slices.Concat(run.Planned, run.Schedule) {
		if p.ID <= id && id < p.ID+max(p.Count, 1) {
			return plannedWords(p)
		}
	}
	return "–"
}

// plannedWords is the plan of one fault in a sentence.
func plannedWords(p reports.Planned) string {
	text := p.Target
	if p.On != "" {
		text += ", once a client passes " + p.On
	}
	switch at := say.Seconds(int64(p.At)); {
	case p.On != "" && p.At > 0:
		text += " from " + at + " on"
	case p.At > 0 || p.On == "" && p.After == "":
		text += ", at " + at
	}
	if p.After != "" {
		text += ", after " + p.After
	}
	long := say.Length(p.Max)
	if p.Min != p.Max {
		long = say.Length(p.Min) + " to " + long
	}
	text += ", for " + long
	if p.Until != "" {
		text += " until " + p.Until
	}
	return text
}

// configs are the command lines and environments of servers, those that differ only
// by the node's name as one.
func configs(nodes []reports.NodeInfo) (rows []configRow) {
	var groups [][]string
	var texts []string
	for _, n := range nodes {
		if len(n.Command) == 0 {
			continue
		}
		text := configOf(n)
		i := slices.Index(texts, text)
		if i < 0 {
			i, texts, groups = len(texts), append(texts, text), append(groups, nil)
		}
		groups[i] = append(groups[i], n.Name)
	}
	for i, g := range groups {
		rows = append(rows, configRow{say.Names(g), texts[i]})
	}
	return rows
}

// configOf is how a node's program was started.
func configOf(n reports.NodeInfo) string {
	var b strings.Builder
	for _, e := range n.Env {
		b.WriteString(e + "\n")
	}
	if n.User != "" {
		b.WriteString("# as user " + n.User + "\n")
	}
	if len(n.Caps) > 0 {
		b.WriteString("# with " + strings.Join(n.Caps, ", ") + "\n")
	}
	b.WriteString(say.Shell(n.Command))
	return b.String()
}

// bytesText writes a size in the unit that suits it.
func bytesText(n int64) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%s MB", say.Figure(float64(n)/1e6))
	case n >= 1_000:
		return fmt.Sprintf("%s kB", say.Figure(float64(n)/1e3))
	}
	return say.Count(int(n), "byte")
}
