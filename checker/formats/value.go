package formats

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// mixture notices when a string and something else would have the same text.
type mixture struct {
	quoted, other int    // lines, 0: none yet
	how           string // Same or Apart, if the user says so
}

// What a user may say of values such as "1" and 1, in Options.Values.
const (
	Same  = "same"
	Apart = "apart"
)

func (m *mixture) text(f form, what string) (string, error) {
	s, err := f.scalar(what)
	if f.kind == fraction && m.how != Apart || m.how == Same && isFraction(s) {
		s = decimal(s)
	}
	switch {
	case err != nil || f.nothing(), m.how == Same:
		return s, err
	case m.how == Apart && f.kind == text && bare(s):
		return strconv.Quote(s), nil
	case m.how == Apart:
		return s, nil
	case f.kind != text && m.other == 0:
		m.other = f.line
	case f.kind == text && m.quoted == 0 && bare(s):
		m.quoted = f.line
	}
	if m.quoted != 0 && m.other != 0 {
		return "", f.errorf("%s: values are told apart by their text, and line %d has a string that looks like a number "+
			"or a keyword, line %d one that is; --values same takes them for the same, --values apart for two", what, m.quoted, m.other)
	}
	return s, nil
}

// keyAndValue reads the key and the value of a step.
func (r *Reader) keyAndValue(e *models.Event, s *step) (err error) {
	r.keyless = false
	key, value := s.key, s.value
	if s.other&toldKey != 0 && !isLock(e.F) { // a :lock beside a register's operation is not its name
		key = form{}
	}
	if !key.nothing() {
		if r.o.Independent == "" {
			r.tuples = no
		}
	} else if key, value, err = r.untuple(e, s); err != nil {
		return err
	}
	if key.kind != absent {
		if e.Key, err = r.keys.text(key, "key"); err != nil {
			return err
		}
		if e.Key == "" {
			return key.errorf("key: want one that is not empty")
		}
	}
	if isLock(e.F) {
		return r.lockValue(e, s, value)
	}
	return r.registerValue(e, value)
}

// lockValue reads what some tests say in the value of a lock's operation.
func (r *Reader) lockValue(e *models.Event, s *step, value form) error {
	s.value = value
	if err := s.grant(r.o.Fields); err != nil {
		return err
	}
	if s.permits.kind == whole && s.permits.text != "1" {
		return s.permits.errorf("permits %s: an operation takes one permit here, so write one for each; --field permits=- passes over it", clip(s.permits.text))
	}
	e.Owner, e.Token, e.Lease = s.owner, s.token, s.lease
	if s.named {
		r.Skipped["leases that are no numbers, which count as none"]++
	}
	call := r.processes[e.Process]
	if s.told&toldToken != 0 && s.token == 0 && e.Type == history.OK && e.F != models.Release && e.F != models.ReleaseR && e.F != models.Extend {
		r.Skipped["tokens of 0 or -1, which count as none"]++
	}
	if r.refuses(e, s, value) {
		e.Type, e.Refused = history.Fail, true
		r.Skipped["answers of no, which count as refused"]++
	}
	name := value.entry(toldKey, r.o.Fields)
	if owner := value.entry(toldOwner, r.o.Fields); name.nothing() && !owner.nothing() {
		name = value.plain("name")
	}
	if e.Key == "" && !name.nothing() {
		return r.lockNamed(e, call, name)
	}
	if r.role == asMode && value.kind != dict {
		if s.mode = modeOf(value); e.Type != history.OK || s.mode != "" || value.nothing() {
			return nil
		}
	}
	if r.role == asKey && (e.Type == history.Invoke || call != nil && call.key != "" && value.text == call.key) {
		return r.lockKey(e, value)
	}
	text, err := r.values.text(value, "value")
	switch {
	case value.kind == dict:
		return r.doubted(e, s, value)
	case err != nil && r.role != asNone:
		return err
	case e.Type == history.Invoke:
		r.asking = text
	case e.Type == history.OK && (call == nil || text == "" || text != call.asked):
		if err := r.doubted(e, s, value); err != nil {
			return err
		}
	}
	switch {
	case value.nothing(), e.Type == history.OK && value.kind == boolean && r.role != asOwner, e.Refused:
		return nil
	case r.role == asOwner && (e.Type == history.Invoke || e.Type == history.OK):
		e.Owner = text
	case r.role == asToken && e.Type == history.OK && value.kind == whole:
		e.Token, err = value.count("token", 1<<63-1)
		return err
	case r.role == asNone && (e.Type == history.Invoke || e.Type == history.OK && text != "true"):
		return r.steady(&r.same, text, value)
	}
	return nil
}

// doubted looks at the answer of an operation that was not refused.
func (r *Reader) doubted(e *models.Event, s *step, value form) error {
	switch {
	case e.Type != history.OK, r.Format == "timelock", r.role == asOwner, r.role == asToken, r.role == asID:
		return nil
	case s.told&toldAnswer != 0:
		return r.doubt(e, s.answer)
	case value.kind >= list:
		return nil
	}
	return r.doubt(e, value)
}

// plain is what a map says under one name.
func (f form) plain(name string) form {
	for i := 0; f.kind == dict && i+1 < len(f.items); i += 2 {
		if f.items[i].text == name {
			return f.items[i+1]
		}
	}
	return form{}
}

// lockNamed takes the name of a lock that stands in the map which is the value. Where the
// answers alone tell one, such as that of a lock's own entry for each grant, it must not vary.
func (r *Reader) lockNamed(e *models.Event, call *pending, name form) error {
	text, err := r.keys.text(name, "key")
	switch {
	case err != nil:
		return err
	case e.Type == history.Invoke, e.Type == history.OK && call != nil && call.key != "":
		e.Key = text
	case e.Type == history.OK && r.role != asAnswer:
		return r.steady(&r.sameKey, text, name)
	}
	return nil
}

// lockKey takes the name of a lock.
func (r *Reader) lockKey(e *models.Event, value form) (err error) {
	if e.Key != "" || value.kind == dict || value.kind == large {
		return nil
	}
	if e.Key, err = r.keys.text(value, "value, as a key"); err == nil && e.Key == "" {
		err = r.at(e.Line, errors.New("a call without a value, which is the key"))
	}
	return err
}

// steady wants values that say nothing not to vary.
func (r *Reader) steady(same *string, text string, value form) error {
	if *same == "" {
		*same = text
	}
	if *same != text {
		return &Error{Line: value.line, Column: value.column, Err: &Ambiguous{[]string{clip(*same), clip(text)}, ValueRoles}}
	}
	return nil
}

func (r *Reader) registerValue(e *models.Event, value form) (err error) {
	switch {
	case e.Type == history.Fail || e.Type == history.Info: // at most a reason, such as :timed-out; see completes
		if value.kind < list {
			e.Value = value.String()
		}
		return nil
	case e.F == models.Read && e.Type == history.Invoke:
		return nil // what a read is said to expect does not count
	case e.F == models.CAS && !value.nothing():
		if value.kind != list || len(value.items) != 2 {
			return value.errorf("value of a cas: want [old new], got %v", value.kind)
		}
		if e.Old, err = r.values.text(value.items[0], "old value"); err != nil {
			return err
		}
		value = value.items[1]
	}
	if e.Value, err = r.values.text(value, "value"); err != nil {
		return err
	}
	if e.Value == "" && e.Type == history.Invoke && e.F != models.Read {
		return r.at(e.Line, fmt.Errorf("a %s of nothing: want a value", e.F))
	}
	return nil
}

// untuple takes a [key value] tuple apart, if values are such tuples: Jepsen's
// independent keys. Where nobody said so, the first operation tells.
func (r *Reader) untuple(e *models.Event, s *step) (key, value form, err error) {
	v := s.value
	pair, isTuple := v.tuple(e.F)
	if r.tuples == "" && !v.nothing() {
		r.tuples = answered(isTuple)
	}
	switch {
	case r.tuples != yes:
		return form{}, v, nil
	case isTuple:
		return pair[0], pair[1], nil
	case e.Type == history.Fail, e.Type == history.Info, v.nothing() && e.Type == history.OK:
		return form{}, v, nil
	case v.nothing():
		r.keyless = true
		return form{}, v, nil
	}
	return key, value, r.at(s.line, errors.New("the value is no [key value] tuple, and others in the file are; --independent no takes them as they are"))
}

// tuple takes a value apart that may be [key value], or {:key key :value value}.
func (f form) tuple(op models.F) (pair []form, ok bool) {
	switch {
	case f.kind == list && len(f.items) == 2:
		return f.items, op != models.CAS || f.items[1].kind == list
	case f.kind == dict && len(f.items) == 4 && f.items[0].text == "key" && f.items[2].text == "value":
		return []form{f.items[1], f.items[3]}, true
	case f.kind == dict && len(f.items) == 4 && f.items[2].text == "key" && f.items[0].text == "value":
		return []form{f.items[3], f.items[1]}, true
	}
	return nil, false
}
