package formats

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// role is what the values of lock operations are.
type role string

// ValueRoles are the roles that a user may name in Options.ValueIs: the name of the
// lock, for whom it is, its token, or what the lock answered.
var ValueRoles = []string{string(asKey), string(asOwner), string(asToken), string(asAnswer)}

const (
	asKey    role = "key"
	asOwner  role = "owner"
	asToken  role = "token"
	asAnswer role = "answer" // false and the like are a no; anything else is a yes
	asMode   role = "mode"   // a reader's or a writer's
	asID     role = "id"     // of the call, which its grant repeats
	asNone   role = "none"   // they do not vary, or there are none
)

// Ambiguous says that the values of lock operations may be several things.
type Ambiguous struct {
	Values  []string // some of them
	Choices []string // of ValueRoles
}

// Error tells the choices.
func (a *Ambiguous) Error() string {
	return fmt.Sprintf("the values of its lock operations vary (%s) and may be of several kinds: say which by "+
		"--value-is %s", strings.Join(a.Values, ", "), strings.Join(a.Choices, "|"))
}

// seen is what a survey saw of the values of lock operations.
type seen struct {
	calls, answers map[string]bool // scalars of calls, and of answers that are not their call's
	whole          bool            // all such answers are whole numbers
	asks           int             // calls with such a value
	maps           int             // answers that are maps, to calls with such a value
	echoes         map[string]int  // of these, those that repeat it, by the name under which
	named          bool            // some acquire has a value, or some answer names the lock
	keyed          bool            // the key stands elsewhere
	locks          bool            // some operation is of a lock
	owners         bool            // an owner stands beside, or in an answer that is a map
	asked          map[string]string
	tuples         answer
	names          map[string]*unknownName
	tokens         bool  // some grant tells one
	apart          bool  // some release is a reader's by its word
	modes          bool  // all values of acquires are modes
	numbers        int64 // the greatest value of an acquire, if all are numbers from 1 on
}

// surveyed is how many operations are looked at of a file that is in memory as a whole.
const surveyed = 2000

// survey looks at the beginning of a file to find out what the values of its lock
// operations are, and whether values are [key value] tuples. It takes only what no other
// reading explains: that a value stands beside an owner, so it is the key; that a grant
// repeats it, so it is an id; that all are truth values, so they are answers.
func (r *Reader) survey(first []byte) error {
	looks := map[string]func(*Reader) error{"jepsen": (*Reader).readEDN, "jepsen-log": (*Reader).readLog,
		"elle": (*Reader).readElle, "kv": (*Reader).readKV, "jepsen-blocks": (*Reader).readBlocks}
	read := looks[r.Format]
	if read == nil {
		if r.role == "" {
			r.role = map[string]role{"timelock": asKey}[r.Format]
		}
		if r.role == "" {
			r.role = asAnswer
		}
		return nil
	}
	s := &seen{calls: map[string]bool{}, answers: map[string]bool{}, whole: true, asked: map[string]string{},
		echoes: map[string]int{}, names: map[string]*unknownName{}, modes: true}
	notes := beside{}
	at := &Reader{Format: r.Format, Skipped: map[string]int{}, o: r.o, notes: notes, in: bytes.NewReader(first), processes: map[int]*pending{}}
	n := 0
	at.looking = func(st *step) bool {
		n++
		return s.look(r, st, notes) && (r.Format != "jepsen-blocks" || n < surveyed)
	}
	_ = read(at) // what is wrong with the file is said when it is read
	r.clients.owners = !s.owners && r.role != asOwner
	r.answered.ids = s.many()
	if s.locks {
		r.unread, r.apart = notes.telling(), s.apart
		r.readings = s.readings()
		r.Numbers = s.numbers
	}
	if r.tuples == "" && s.tuples != "" {
		r.tuples = s.tuples
	}
	if r.role == "" {
		choices := s.choices(r.o.Fields)
		if len(r.o.No) > 0 && slices.Contains(choices, string(asAnswer)) { // so that is what they are
			choices = []string{string(asAnswer)}
		}
		if len(choices) > 1 {
			return &Ambiguous{some(s.calls, s.answers), choices}
		}
		r.role = role(choices[0])
	}
	return nil
}

// look takes one operation into account.
func (s *seen) look(r *Reader, st *step, notes beside) bool {
	if st.nemesis() {
		return true
	}
	f, err := meaning(st.f, r.o.Meanings)
	if err != nil || f == leftOut {
		return true
	}
	value := st.value
	if pair, isTuple := value.tuple(f); !value.nothing() {
		if s.tuples == "" && (st.kind == history.Invoke || st.kind == history.OK) {
			s.tuples = answered(isTuple)
		}
		if isTuple && cmp.Or(r.tuples, s.tuples) == yes {
			value, s.keyed = pair[1], true
		}
	}
	if !isLock(f) {
		return true
	}
	s.locks, s.apart = true, s.apart || f == models.ReleaseR
	s.keyed = s.keyed || !st.key.nothing()
	takes := f != models.Release && f != models.ReleaseR && f != models.Extend
	s.named = s.named || takes && st.kind == history.Invoke && !value.nothing() || !value.entry(toldKey, r.o.Fields).nothing() || !value.plain("name").nothing()
	s.owners = s.owners || st.owner != "" || !value.entry(toldOwner, r.o.Fields).nothing()
	s.tokens = s.tokens || st.token > 0 || !value.entry(toldToken, r.o.Fields).nothing()
	unknown := st.unknown
	for i := 0; value.kind == dict && i+1 < len(value.items); i += 2 {
		if which, _ := fieldOf(value.items[i].text, nil); which == 0 {
			unknown = append(unknown, value.items[i], value.items[i+1])
		}
	}
	for i := 0; i+1 < len(unknown); i += 2 {
		if _, own := r.o.Fields[unknown[i].text]; own {
			continue
		}
		if unknown[i].text != "name" {
			notes.see(unknown[i].text, unknown[i+1])
		}
		s.unknown(st, takes, unknown[i].text, unknown[i+1])
	}
	s.value(st, value)
	if takes && st.kind == history.Invoke && !value.nothing() {
		s.number(value)
	}
	return true
}

func (s *seen) value(st *step, value form) {
	process := st.process.text
	if asked := s.asked[process]; value.kind == dict && st.kind == history.OK && asked != "" {
		s.maps++
		for i := 0; i+1 < len(value.items); i += 2 {
			if value.items[i+1].text == asked {
				s.echoes[value.items[i].text]++
			}
		}
	}
	text, err := value.scalar("value")
	if err != nil || value.nothing() || value.kind == dict {
		if st.kind == history.Invoke {
			s.asked[process] = ""
		}
		return
	}
	switch {
	case st.kind == history.Invoke:
		s.asked[process] = text
		s.calls[text] = true
		s.modes = s.modes && len(text) > 1 && modeOf(value) != ""
		s.asks++
	case st.kind != history.OK || text == s.asked[process]:
	case value.kind != boolean && !isNo(value) && text != "true":
		s.answers[text] = true
		s.whole = s.whole && value.kind == whole
	}
}

// many says that so many answers differ that they name grants.
func (s *seen) many() bool { return len(s.answers) > manyAnswers }

// choices are the roles that the values may have.
func (s *seen) choices(own map[string]string) []string {
	if s.modes && len(s.calls) > 0 {
		return []string{string(asMode)}
	}
	all := s.repeated(own)
	if all == nil {
		all = s.varied()
	}
	if s.keyed || !s.named { // so no value is a key
		if all = slices.DeleteFunc(slices.Clone(all), func(choice string) bool { return choice == string(asKey) }); len(all) == 0 {
			all = []string{string(asAnswer)}
		} else if all[0] == string(asOwner) && !slices.Contains(all, string(asAnswer)) { // or it says nothing
			all = append(all, string(asAnswer))
		}
	}
	return all
}

// repeated are those of values that each answer repeats in a map; nil: they do not, or only beside
// a token, as a number may by chance.
func (s *seen) repeated(own map[string]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(s.echoes)) {
		which, _ := fieldOf(name, own)
		switch {
		case s.echoes[name] < s.maps || which == toldToken:
		case which == toldKey || name == "name":
			return []string{string(asKey)}
		case which == toldOwner || slices.Contains(passedOver, name):
			return []string{string(asID)}
		case len(s.calls) > 1:
			all = []string{string(asKey), string(asAnswer)}
		}
	}
	return all
}

// varied are the roles of values by how they vary.
func (s *seen) varied() []string {
	switch calls, answers := len(s.calls), len(s.answers); {
	case calls > 1 && s.owners && calls == s.asks: // never one twice: so many locks, or an id for each call
		return []string{string(asKey), string(asAnswer)}
	case calls > 1 && s.owners:
		return []string{string(asKey)}
	case calls > 1 && answers == 0:
		return []string{string(asKey), string(asOwner)}
	case calls > 1:
		return ValueRoles
	case answers > 1 && s.whole && s.owners:
		return []string{string(asToken), string(asAnswer)}
	case answers > 1 && s.owners:
		return []string{string(asAnswer)}
	case answers > 1 && s.whole:
		return []string{string(asOwner), string(asToken), string(asAnswer)}
	case answers > 1:
		return []string{string(asOwner), string(asAnswer)}
	}
	return []string{string(asNone)}
}

func some(sets ...map[string]bool) (all []string) {
	for _, set := range sets {
		for text := range set {
			all = append(all, clip(text))
		}
	}
	slices.Sort(all)
	return all[:min(len(all), 4)]
}

// isNo says that a lock answered no.
func isNo(value form) bool {
	return value.kind == boolean && value.text == "false" || value.kind == text && (value.text == "false" || value.text == "")
}
