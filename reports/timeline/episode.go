package timeline

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
	"github.com/dlmtest/dlmtest/reports/say"
)

// Episode is one fault on all of its victims: a partition strikes both sides.
type Episode struct {
	Kind    string
	Victims []*trace.Fault
	End     int // the note that ended the last of them; -1: it lasted to the end
}

// Episodes joins the faults of one number, in the order in which they began.
func (t *View) Episodes() (all []*Episode) {
	type name struct {
		id   int
		kind string
	}
	known := map[name]*Episode{}
	for _, f := range t.Faults {
		e := known[name{f.ID, f.Kind}]
		if e == nil {
			e = &Episode{Kind: f.Kind}
			known[name{f.ID, f.Kind}] = e
			all = append(all, e)
		}
		e.Victims = append(e.Victims, f)
	}
	for _, e := range all {
		for _, f := range e.Victims {
			if f.EndOp < 0 || e.End < 0 {
				e.End = -1
			} else {
				e.End = max(e.End, f.EndOp)
			}
		}
	}
	return all
}

// During is the raw time that an episode lasted on any of its victims.
func (t *View) During(e *Episode) Span {
	s := t.Lasted(e.Victims[0])
	for _, f := range e.Victims[1:] {
		s.From, s.To = min(s.From, t.Lasted(f).From), max(s.To, t.Lasted(f).To)
	}
	return s
}

// Begins says what happens to the victims.
func (e *Episode) Begins() string {
	if k := history.FaultOf(e.Kind); k.Begins != "" {
		return e.verb(k.Begins, cmp.Or(k.BeginMany, k.Begins))
	}
	if e.Kind == "partition" {
		return e.parted()
	}
	return fmt.Sprintf("%s begins on %s.", strings.ToUpper(e.Kind[:min(1, len(e.Kind))])+e.Kind[min(1, len(e.Kind)):], e.Names())
}

// Ends says what becomes of the victims; nothing, of clients that stay dead.
func (e *Episode) Ends(after string, isClient func(string) bool) string {
	if e.Kind == "kill" && isClient(e.Victims[0].Target) && !e.Victims[0].Back {
		return ""
	}
	words := fmt.Sprintf("The %s of %s ends", e.Kind, e.Names())
	if k := history.FaultOf(e.Kind); k.About != "" {
		words = e.verb(k.Ends, cmp.Or(k.EndMany, k.Ends))
	}
	if words == "" {
		return ""
	}
	return words + ", after " + after + "."
}

// Meanwhile says in what state a victim is.
func Meanwhile(kind string) string {
	if words := history.FaultOf(kind).Meanwhile; words != "" {
		return words
	}
	return "in the middle of the " + kind
}

// Seen says what the victims showed of the fault.
func (e *Episode) Seen() string {
	var missed []string
	for _, f := range e.Victims {
		if f.Missed {
			missed = append(missed, f.Target)
		}
	}
	first := e.Victims[0]
	switch {
	case len(missed) == len(e.Victims):
		return e.verb(" It was not seen there.%.0s", " It was seen at none of them.%.0s")
	case len(missed) > 0:
		return fmt.Sprintf(" Not seen at %s.", say.Names(missed))
	case len(e.Victims) == 2 && first.Proof != "":
		return " Seen at both."
	case len(e.Victims) > 2 && first.Proof != "":
		return fmt.Sprintf(" Seen at all %d nodes.", len(e.Victims))
	case first.Proof != "":
		return " Seen there: " + say.Sentence(first.Proof)
	}
	return ""
}

// mostGroups is how many sides of a cut are told one by one.
const mostGroups = 3

// parted says who is cut off from whom, by whose packets each victim drops.
func (e *Episode) parted() string {
	var cuts []string             // each list of peers that some victims drop
	deaf := map[string][]string{} // by such a list, who drops them
	for _, f := range e.Victims {
		from := say.Names(f.Cut)
		if deaf[from] == nil {
			cuts = append(cuts, from)
		}
		deaf[from] = append(deaf[from], f.Target)
	}
	switch {
	case deaf[""] != nil || len(cuts) > mostGroups:
		return e.verb("%s is cut off from others.", "The network is parted between %s.")
	case len(cuts) == 2 && say.Names(deaf[cuts[0]]) == cuts[1] && say.Names(deaf[cuts[1]]) == cuts[0]:
		few, many := deaf[cuts[0]], deaf[cuts[1]]
		if len(few) > len(many) {
			few, many = many, few
		}
		if len(few) == 1 && len(many) == 1 {
			return e.Names() + " are cut off from each other."
		}
		return fmt.Sprintf("%s %s cut off from %s.", say.Names(few), map[bool]string{true: "is", false: "are"}[len(few) == 1], say.Names(many))
	}
	var parts []string
	for _, from := range cuts {
		parts = append(parts, say.Names(deaf[from])+" no longer "+map[bool]string{true: "hears", false: "hear"}[len(deaf[from]) == 1]+" from "+from)
	}
	return strings.Join(parts, "; ") + "."
}

// Names are the victims.
func (e *Episode) Names() string {
	var all []string
	for _, f := range e.Victims {
		all = append(all, f.Target)
	}
	return say.Names(all)
}

// verb puts the victims into the sentence for one or for many.
func (e *Episode) verb(one, many string) string {
	if len(e.Victims) == 1 {
		many = one
	}
	return strings.ReplaceAll(many, "%s", e.Names())
}
