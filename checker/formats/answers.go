package formats

import (
	"slices"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// answers are what locks answered to each kind of operation, as far as that counts as done.
type answers struct {
	all map[models.F][]string
	ids bool // so many differ that they name grants: none of them is a no
}

// manyAnswers is how many different answers name grants.
const manyAnswers = 8

// isNo says that a lock answered no.
func (r *Reader) isNo(value form) bool {
	if isNo(value) {
		return true
	}
	text, err := value.scalar("answer")
	if value.kind == null {
		return slices.Contains(r.o.No, "nil") || slices.Contains(r.o.No, "null")
	}
	return err == nil && len(r.o.No) > 0 && (slices.Contains(r.o.No, text) || slices.Contains(r.o.No, value.text)) && value.kind < list
}

// refuses says that an operation which returned OK was refused: its answer is a no.
func (r *Reader) refuses(e *models.Event, s *step, value form) bool {
	if e.Type != history.OK {
		return false
	}
	asked := isNo(value) && r.role == asOwner      // false is somebody's name
	if s.told&toldAnswer != 0 && value.nothing() { // which says nothing then
		return r.isNo(s.answer)
	}
	return !asked && (r.isNo(value) || r.isNo(s.answer))
}

// doubt refuses answers that are words of which one may be a no: an operation that is told
// "busy" where others are told "acquired", or nothing, was refused, and nothing here says so.
func (r *Reader) doubt(e *models.Event, answer form) error {
	if r.answered.ids || len(r.o.No) > 0 {
		return nil
	}
	text, err := answer.scalar("answer")
	if err != nil || slices.Contains(r.answered.all[e.F], text) {
		return nil
	}
	if r.answered.all == nil {
		r.answered.all = map[models.F][]string{}
	}
	known := append(r.answered.all[e.F], text)
	if r.answered.all[e.F] = known; len(known) > manyAnswers {
		r.answered.ids = true
		return nil
	}
	either := slices.Contains(known, "true") && slices.Contains(known, "")
	if len(known) < 2 || !either && !slices.ContainsFunc(known, mayRefuse) {
		return nil
	}
	return (form{line: e.Line, column: answer.column}).errorf("the answers to %s differ (%s, %s), and one of them may be a no: --no %[3]s says so, --no false "+
		"that none is", e.F, said(known[0]), said(known[1]))
}

// mayRefuse says that an answer is neither nothing, a truth value nor a number that may be a token.
func mayRefuse(answer string) bool {
	return answer == "0" || answer != "" && answer != "true" && !isWhole(answer) && !isFraction(answer)
}

func said(answer string) string {
	if answer == "" {
		return "nil"
	}
	return answer
}
