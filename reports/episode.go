package reports

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// episode is one fault on all of its victims: a partition strikes both sides.
type episode struct {
	kind    string
	victims []*trace.Fault
	end     int // the note that ended the last of them; -1: it lasted to the end
}

// episodes joins the faults of one number, in the order in which they began.
func (t *view) episodes() (all []*episode) {
	type name struct {
		id   int
		kind string
	}
	known := map[name]*episode{}
	for _, f := range t.Faults {
		e := known[name{f.ID, f.Kind}]
		if e == nil {
			e = &episode{kind: f.Kind}
			known[name{f.ID, f.Kind}] = e
			all = append(all, e)
		}
		e.victims = append(e.victims, f)
	}
	for _, e := range all {
		for _, f := range e.victims {
			if f.EndOp < 0 || e.end < 0 {
				e.end = -1
			} else {
				e.end = max(e.end, f.EndOp)
			}
		}
	}
	return all
}

// during is the raw time that an episode lasted on any of its victims.
func (t *view) during(e *episode) span {
	s := t.lasted(e.victims[0])
	for _, f := range e.victims[1:] {
		s.from, s.to = min(s.from, t.lasted(f).from), max(s.to, t.lasted(f).to)
	}
	return s
}

// begins says what happens to the victims.
func (e *episode) begins() string {
	if k := history.FaultOf(e.kind); k.Begins != "" {
		return e.verb(k.Begins, cmp.Or(k.BeginMany, k.Begins))
	}
	if e.kind == "partition" {
		return e.parted()
	}
	return fmt.Sprintf("%s begins on %s.", strings.ToUpper(e.kind[:min(1, len(e.kind))])+e.kind[min(1, len(e.kind)):], e.names())
}

// ends says what becomes of the victims; nothing, of clients that stay dead.
func (e *episode) ends(after string, isClient func(string) bool) string {
	if e.kind == "kill" && isClient(e.victims[0].Target) {
		return ""
	}
	words := fmt.Sprintf("The %s of %s ends", e.kind, e.names())
	if k := history.FaultOf(e.kind); k.About != "" {
		words = e.verb(k.Ends, cmp.Or(k.EndMany, k.Ends))
	}
	if words == "" {
		return ""
	}
	return words + ", after " + after + "."
}

// meanwhile says in what state a victim is.
func meanwhile(kind string) string {
	if words := history.FaultOf(kind).Meanwhile; words != "" {
		return words
	}
	return "in the middle of the " + kind
}

// seen says what the victims showed of the fault.
func (e *episode) seen() string {
	var missed []string
	for _, f := range e.victims {
		if f.Missed {
			missed = append(missed, f.Target)
		}
	}
	first := e.victims[0]
	switch {
	case len(missed) == len(e.victims):
		return e.verb(" It was not seen there.%.0s", " It was seen at none of them.%.0s")
	case len(missed) > 0:
		return fmt.Sprintf(" Not seen at %s.", names(missed))
	case len(e.victims) == 2 && first.Proof != "":
		return " Seen at both."
	case len(e.victims) > 2 && first.Proof != "":
		return fmt.Sprintf(" Seen at all %d nodes.", len(e.victims))
	case first.Proof != "":
		return " Seen there: " + sentence(first.Proof)
	}
	return ""
}

// mostGroups is how many sides of a cut are told one by one.
const mostGroups = 3

// parted says who is cut off from whom, by whose packets each victim drops.
func (e *episode) parted() string {
	var cuts []string             // each list of peers that some victims drop
	deaf := map[string][]string{} // by such a list, who drops them
	for _, f := range e.victims {
		from := names(f.Cut)
		if deaf[from] == nil {
			cuts = append(cuts, from)
		}
		deaf[from] = append(deaf[from], f.Target)
	}
	switch {
	case deaf[""] != nil || len(cuts) > mostGroups:
		return e.verb("%s is cut off from others.", "The network is parted between %s.")
	case len(cuts) == 2 && names(deaf[cuts[0]]) == cuts[1] && names(deaf[cuts[1]]) == cuts[0]:
		few, many := deaf[cuts[0]], deaf[cuts[1]]
		if len(few) > len(many) {
			few, many = many, few
		}
		if len(few) == 1 && len(many) == 1 {
			return e.names() + " are cut off from each other."
		}
		return fmt.Sprintf("%s %s cut off from %s.", names(few), map[bool]string{true: "is", false: "are"}[len(few) == 1], names(many))
	}
	var parts []string
	for _, from := range cuts {
		parts = append(parts, names(deaf[from])+" no longer "+map[bool]string{true: "hears", false: "hear"}[len(deaf[from]) == 1]+" from "+from)
	}
	return strings.Join(parts, "; ") + "."
}

func (e *episode) names() string {
	var all []string
	for _, f := range e.victims {
		all = append(all, f.Target)
	}
	return names(all)
}

// verb puts the victims into the sentence for one or for many.
func (e *episode) verb(one, many string) string {
	if len(e.victims) == 1 {
		many = one
	}
	return strings.ReplaceAll(many, "%s", e.names())
}
