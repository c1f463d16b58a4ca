package reports

import (
	"fmt"
	"strings"
)

// episode is one fault on all of its victims: a partition strikes both sides.
type episode struct {
	kind    string
	victims []*fault
	end     int // the note that ended the last of them; -1: it lasted to the end
}

// episodes joins the faults of one number, in the order in which they began.
func (t *trace) episodes() (all []*episode) {
	type name struct {
		id   int
		kind string
	}
	known := map[name]*episode{}
	for _, f := range t.faults {
		e := known[name{f.id, f.kind}]
		if e == nil {
			e = &episode{kind: f.kind}
			known[name{f.id, f.kind}] = e
			all = append(all, e)
		}
		e.victims = append(e.victims, f)
	}
	for _, e := range all {
		for _, f := range e.victims {
			if f.end < 0 || e.end < 0 {
				e.end = -1
			} else {
				e.end = max(e.end, f.end)
			}
		}
	}
	return all
}

// during is the raw time that an episode lasted on any of its victims.
func (t *trace) during(e *episode) span {
	s := t.lasted(e.victims[0])
	for _, f := range e.victims[1:] {
		s.from, s.to = min(s.from, t.lasted(f).from), max(s.to, t.lasted(f).to)
	}
	return s
}

// begins says what happens to the victims.
func (e *episode) begins() string {
	switch e.kind {
	case "pause":
		return e.verb("%s is paused: none of its threads runs.", "%s are paused: none of their threads runs.")
	case "stall-worker":
		return e.verb("The work of %s stops; its other threads run.", "The work of %s stops; their other threads run.")
	case "kill":
		return e.verb("%s is killed.", "%s are killed.")
	case "partition":
		return e.parted()
	case "crash":
		return e.verb("%s crashes and loses what it has not synced.", "%s crash and lose what they have not synced.")
	case "clock":
		return e.verb("The clock of %s is bent.", "The clocks of %s are bent.")
	case "disk-stall":
		return e.verb("The disk of %s stalls: no fsync comes back.", "The disks of %s stall: no fsync comes back.")
	}
	if w, ok := linkWords[e.kind]; ok {
		return strings.ReplaceAll(w.begins, "%s", e.names())
	}
	return fmt.Sprintf("%s begins on %s.", strings.ToUpper(e.kind[:min(1, len(e.kind))])+e.kind[min(1, len(e.kind)):], e.names())
}

// ends says what becomes of the victims; nothing, of clients that stay dead.
func (e *episode) ends(after string, isClient func(string) bool) string {
	words := ""
	switch e.kind {
	case "pause":
		words = e.verb("%s runs again", "%s run again")
	case "stall-worker":
		words = e.verb("The work of %s goes on", "The work of %s goes on")
	case "crash":
		words = e.verb("%s is started again", "%s are started again")
	case "clock":
		words = e.verb("The clock of %s is no longer bent", "The clocks of %s are no longer bent")
	case "disk-stall":
		words = e.verb("The disk of %s works again", "The disks of %s work again")
	case "kill":
		if isClient(e.victims[0].target) {
			return ""
		}
		words = e.verb("%s is started again", "%s are started again")
	case "partition":
		words = "The partition ends"
	default:
		words = fmt.Sprintf("The %s of %s ends", e.kind, e.names())
		if w, ok := linkWords[e.kind]; ok {
			words = strings.ReplaceAll(w.ends, "%s", e.names())
		}
	}
	if words == "" {
		return ""
	}
	return words + ", after " + after + "."
}

// meanwhile says in what state a victim is.
func meanwhile(kind string) string {
	switch kind {
	case "pause":
		return "while it is paused"
	case "stall-worker":
		return "while its work stands still"
	case "partition":
		return "while it is cut off"
	}
	if w, ok := linkWords[kind]; ok {
		return w.meanwhile
	}
	return "in the middle of the " + kind
}

// seen says what the victims showed of the fault.
func (e *episode) seen() string {
	var missed []string
	for _, f := range e.victims {
		if f.missed {
			missed = append(missed, f.target)
		}
	}
	first := e.victims[0]
	switch {
	case len(missed) == len(e.victims):
		return e.verb(" It was not seen there.%.0s", " It was seen at none of them.%.0s")
	case len(missed) > 0:
		return fmt.Sprintf(" Not seen at %s.", names(missed))
	case len(e.victims) == 2 && first.proof != "":
		return " Seen at both."
	case len(e.victims) > 2 && first.proof != "":
		return fmt.Sprintf(" Seen at all %d nodes.", len(e.victims))
	case first.proof != "":
		return " Seen there: " + sentence(first.proof)
	}
	return ""
}

// mostGroups is how many sides of a cut are told one by one.
const mostGroups = 3

// parted says who is cut off from whom, by whose packets each victim drops.
func (e *episode) parted() string {
	e.inferCuts()
	var cuts []string             // each list of peers that some victims drop
	deaf := map[string][]string{} // by such a list, who drops them
	for _, f := range e.victims {
		from := names(f.cut)
		if deaf[from] == nil {
			cuts = append(cuts, from)
		}
		deaf[from] = append(deaf[from], f.target)
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

// inferCuts fills in the two sides of a cut that was recorded without them, by
// the proofs: each victim states how many peers it does not reach, so where there
// are two counts, and each is the size of the other side, the sides are known.
func (e *episode) inferCuts() {
	sides := map[int][]string{}
	peers := make([]int, len(e.victims))
	for i, f := range e.victims {
		if _, err := fmt.Sscanf(f.proof, "%d of %d peers", new(int), &peers[i]); err != nil || len(f.cut) > 0 {
			return
		}
		sides[peers[i]] = append(sides[peers[i]], f.target)
	}
	if len(e.victims) == 2 && len(sides[1]) == 2 {
		e.victims[0].cut, e.victims[1].cut = sides[1][1:], sides[1][:1]
		return
	}
	for i, f := range e.victims {
		for n, side := range sides {
			if n != peers[i] && len(sides) == 2 && len(side) == peers[i] {
				f.cut = side
			}
		}
	}
}

func (e *episode) names() string {
	var all []string
	for _, f := range e.victims {
		all = append(all, f.target)
	}
	return names(all)
}

// verb puts the victims into the sentence for one or for many.
func (e *episode) verb(one, many string) string {
	if len(e.victims) == 1 {
		return fmt.Sprintf(one, e.names())
	}
	return fmt.Sprintf(many, e.names())
}
