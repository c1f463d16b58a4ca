package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// standing is a value that a copy of the resource showed, although its log has not accepted it for that key.
type standing struct {
	key     *keyLog
	value   string
	by      int          // the first operation that showed it
	write   *trace.Write // nil: nobody recorded it
	refused int          // the note in which the copy refused it; -1: its log has no note of it
}

// standings are the values that a copy showed and never accepted, each once: before a write, or to a read. What stood there at
// first is none: it is from before the history. O(n).
func (r *run) standings(s side) (all []standing) {
	logs := map[string]*showing{}
	for i := range r.Ops {
		op := &r.Ops[i]
		c := s.of(op)
		if c == nil || op.F != history.Apply && op.F != history.ReadSeen && (op.F != history.Read || op.Type != history.OK) {
			continue
		}
		log := logs[op.Key]
		if log == nil {
			if log = (&showing{key: r.logOf(r.ByKey[op.Key])}); log.key == nil {
				continue
			}
			logs[op.Key] = log
		}
		value := shownBy(op, c)
		if value != log.last && value != "" && log.begun {
			if odd, is := r.standing(s, log, value, i); is {
				all = append(all, odd)
			}
		}
		if log.begun = true; op.F == history.Apply && c.Accepted {
			log.last = op.Value
		} else {
			log.last = value
		}
	}
	return all
}

// shownBy is what a note or an answer says that stands in a copy: a write, what it met.
func shownBy(op *history.Op, c *history.Copy) string {
	if op.F == history.Apply {
		return c.Previous
	}
	return c.Value
}

// showing is what a copy of one key has shown so far.
type showing struct {
	key      *keyLog
	last     string // what stands there
	begun    bool   // it has shown something
	accepted map[string]bool
	told     map[string]bool // what was shown and not accepted
}

func (r *run) standing(s side, log *showing, value string, by int) (standing, bool) {
	if log.accepted == nil {
		log.accepted, log.told = map[string]bool{}, map[string]bool{}
		first := true
		for _, i := range log.key.Resource {
			op := &r.Ops[i]
			c := s.of(op)
			if c == nil {
				continue
			}
			if first { // it stood there before
				log.accepted[shownBy(op, c)] = true
			}
			if first = false; op.F == history.Apply && c.Accepted {
				log.accepted[op.Value] = true
			}
		}
	}
	if log.accepted[value] || log.told[value] {
		return standing{}, false
	}
	log.told[value] = true
	odd := standing{key: log.key, value: value, by: by, refused: -1}
	if slot, known := r.ByValue[value]; known {
		odd.write = &r.Writes[slot]
		switch i := odd.write.Apply; {
		case i >= 0 && r.Ops[i].Key == log.key.Name && s.of(&r.Ops[i]) != nil:
			odd.refused = i
		case i >= 0 || odd.write.Invoke < 0 || r.Ops[odd.write.Invoke].Key != log.key.Name:
			odd.write = nil // of another key
		}
	}
	return odd, true
}

// strayed looks at what stands in the copy and was never accepted: a write that it refused, or that its log does not have,
// has lost the update that its writer had not read. What it is of nobody says otherwise: then it cannot be said that none was lost.
func (u *updates) strayed() {
	r := u.r
	for _, odd := range r.standings(u.side) {
		shown := &r.Ops[odd.by]
		if odd.refused >= 0 {
			note := &r.Ops[odd.refused]
			c := u.side.of(note)
			if lost, known := r.ByValue[c.Previous]; known && c.Base != c.Previous {
				u.lost(c.Previous, Violation{Key: odd.key.Name, At: shown.Time, Possible: !u.acked(c.Previous),
					Operations: []int{r.Writes[lost].Apply, r.Writes[lost].Done, odd.refused, odd.by}},
					"%q of %s stands in the %s copy of %q at %s, which had refused it at %s: %q, which its writer had not read, is lost.",
					odd.value, u.writer(note), u.side.name, odd.key.Name, r.seconds(shown.Time), r.seconds(note.Time), c.Previous)
				continue
			}
		}
		if odd.refused < 0 && odd.write != nil && u.overwroteUnlogged(odd) {
			continue
		}
		if u.strange == "" {
			u.strange = fmt.Sprintf("%q stands in the %s copy of %q at %s, and the resource has not logged that it was accepted: "+
				"what it replaced is not known.",
				odd.value, u.side.name, odd.key.Name, r.seconds(shown.Time))
		}
	}
}

// overwroteUnlogged says whether a write that the log does not have was asked for after another had been acknowledged, which
// its writer had not read: that one is lost.
func (u *updates) overwroteUnlogged(odd standing) bool {
	r := u.r
	invoke, shown := &r.Ops[odd.write.Invoke], &r.Ops[odd.by]
	c := u.side.of(invoke)
	if c == nil {
		return false
	}
	place := u.places(odd.key)
	read := place[c.Base]
	if c.Base != "" && read == 0 {
		return false // what it had read is not known, either
	}
	var lost trace.Write
	at := read
	for value, n := range place {
		if w := r.Writes[r.ByValue[value]]; n > at && u.acked(value) && r.Ops[w.Done].Time < invoke.Time {
			lost, at = w, n
		}
	}
	if at == read {
		return false
	}
	u.lost(r.Ops[lost.Done].Value, Violation{Key: odd.key.Name, At: shown.Time, Operations: []int{lost.Apply, lost.Done, odd.write.Invoke, odd.by}},
		"%q of %s stands in the %s copy of %q at %s, and had read %s before it: %q, acknowledged at %s, is lost.",
		odd.value, u.writer(invoke), u.side.name, odd.key.Name, r.seconds(shown.Time), named(c.Base), r.Ops[lost.Done].Value, r.seconds(r.Ops[lost.Done].Time))
	return true
}

// brokenBySelf looks at what stands in the fenced copy although it has refused it, or had registered a greater token before it
// was asked for: whatever the answers say, the copy is no fence.
func (s *fenced) brokenBySelf(r *run) {
	for _, odd := range r.standings(fencedOf) {
		shown := &r.Ops[odd.by]
		switch {
		case odd.refused >= 0:
			note := &r.Ops[odd.refused]
			s.found.add(r, Violation{Key: odd.key.Name, At: shown.Time, Operations: []int{odd.refused, odd.by}},
				"The fenced copy of %q refused %q of %s at %s, and has it at %s.",
				odd.key.Name, odd.value, (&updates{r: r}).writer(note), r.seconds(note.Time), r.seconds(shown.Time))
		case odd.write != nil:
			invoke := &r.Ops[odd.write.Invoke]
			if by, token := r.registeredBefore(odd.key, invoke.Time); invoke.Token != 0 && token > invoke.Token {
				s.found.add(r, Violation{Key: odd.key.Name, At: shown.Time, Operations: []int{by, odd.write.Invoke, odd.by}},
					"The fenced copy of %q has %q of %s at %s with token %d, and had registered %d before it was asked for.",
					odd.key.Name, odd.value, (&updates{r: r}).writer(invoke), r.seconds(shown.Time), invoke.Token, token)
			}
		}
	}
}

// registeredBefore is the greatest token that the fenced copy of a key says it had registered before a time, and its note.
func (r *run) registeredBefore(k *keyLog, t int64) (by int, token int64) {
	for _, i := range k.Resource {
		op := &r.Ops[i]
		if op.Fenced == nil || op.Time >= t {
			continue
		}
		if registered := op.Fenced.Token; registered > token {
			by, token = i, registered
		}
	}
	return by, token
}

// askTwice makes a fenced register of the writes that the fenced copy accepted with one token, of which the first has used it up.
func (r *run) askTwice(k *keyLog) (asked []question) {
	first := map[int64]int{}
	for _, i := range k.Resource {
		op := &r.Ops[i]
		if op.F != history.Apply || op.Fenced == nil || !op.Fenced.Accepted || op.Token == 0 {
			continue
		}
		used, twice := first[op.Token]
		if !twice {
			first[op.Token] = i
			continue
		}
		asked = append(asked, question{model: "fenced-register", ops: []models.Op{
			{F: models.Write, Type: history.OK, Value: "used", Token: op.Token + 1, Call: used, Return: used},
			{F: models.Write, Type: history.OK, Value: fmt.Sprint(i), Token: op.Token, Call: i, Return: i},
		}})
	}
	return asked
}

// askStanding makes a fenced register of each value that the fenced copy showed and had not accepted: of its own refusal, or
// of what it had registered before.
func (r *run) askStanding(k *keyLog) (asked []question) {
	for _, odd := range r.standings(fencedOf) {
		if odd.key != k || odd.write == nil {
			continue
		}
		shown := models.Op{F: models.Read, Type: history.OK, Value: odd.value, Call: 2*odd.by + 1, Return: 2*odd.by + 1}
		write := models.Op{F: models.Write, Type: history.Fail, Value: odd.value, Call: 2 * odd.refused, Return: 2 * odd.refused}
		ops := []models.Op{write, shown}
		if odd.refused < 0 {
			invoke := &r.Ops[odd.write.Invoke]
			by, token := r.registeredBefore(k, invoke.Time)
			if token == 0 {
				continue
			}
			write.Type, write.Token, write.Call, write.Return = history.OK, invoke.Token, 2*odd.write.Invoke, 2*odd.by
			ops = []models.Op{{F: models.Write, Type: history.OK, Value: "before", Token: token, Call: 2 * by, Return: 2 * by}, write, shown}
		}
		asked = append(asked, question{model: "fenced-register", ops: ops})
	}
	return asked
}

// registered are what the copy says that it had registered, and the write that it accepted then.
func registered(op *history.Op, i int) []models.Op {
	return []models.Op{
		{F: models.Write, Type: history.OK, Value: fmt.Sprint(i, " before"), Token: op.Fenced.Token, Call: 2 * i, Return: 2 * i},
		{F: models.Write, Type: history.OK, Value: fmt.Sprint(i), Token: op.Token, Call: 2*i + 1, Return: 2*i + 1},
	}
}
