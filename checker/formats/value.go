package formats

import (
	"errors"
	"fmt"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// mixture notices when a string and something else would have the same text.
type mixture struct{ quoted, other int } // lines, 0: none yet

func (m *mixture) text(f form, what string) (string, error) {
	s, err := f.scalar(what)
	switch {
	case err != nil || f.nothing():
		return s, err
	case f.kind != text && m.other == 0:
		m.other = f.line
	case f.kind == text && m.quoted == 0 && bare(s):
		m.quoted = f.line
	}
	if m.quoted != 0 && m.other != 0 {
		return "", f.errorf("%s: values are told apart by their text, and line %d has a string that looks like a number or a keyword, line %d one that is", what, m.quoted, m.other)
	}
	return s, nil
}

// keyAndValue reads the key and the value of a step.
func (r *Reader) keyAndValue(e *models.Event, s *step) (err error) {
	key, value := s.key, s.value
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
	if e.Type == history.OK && value.kind == boolean && e.F != models.Release && e.F != models.ReleaseR {
		if value.text == "false" {
			if e.F != models.Try && e.F != models.Extend {
				return value.errorf("%s ends with false: one that does not wait is a try; --f %s=try says so", s.f, s.f)
			}
			e.Type = history.Fail
		}
		return nil
	}
	s.value = value
	if err := s.grant(); err != nil {
		return err
	}
	e.Owner, e.Token = s.owner, s.token
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
	isTuple := v.kind == list && len(v.items) == 2 && (e.F != models.CAS || v.items[1].kind == list)
	if r.tuples == "" {
		r.tuples = answered(isTuple)
	}
	switch {
	case r.tuples == no:
		return form{}, v, nil
	case isTuple:
		return v.items[0], v.items[1], nil
	case e.Type == history.Fail, e.Type == history.Info, v.nothing() && e.F != models.Read && e.Type == history.OK:
		return form{}, v, nil
	}
	return key, value, r.at(s.line, errors.New("the value is no [key value] tuple, and earlier ones are; --independent no takes them as they are"))
}
