package formats

import (
	"errors"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// Among [key value] tuples a call may stand without a value, such as the first read of a client. Its end says for which key
// it was, so it waits for that, as for an owner. Where its end says nothing either and it had no effect, both are left out.

// leftKeyless counts those.
const leftKeyless = "events of calls that name no key and had no effect"

// drop leaves a call and its end out, of which neither names a key.
func (r *Reader) drop(p *pending, e *models.Event) error {
	if e.Type != history.Fail && e.F != models.Read || e.Type == history.OK || p.waiting == 0 {
		return r.keyMissing(p.line)
	}
	r.queue[p.waiting-1-r.sent].dropped, r.queue[p.waiting-1-r.sent].waits = true, false
	p.waiting, p.keyless, p.ownerless = 0, false, false
	r.Skipped[leftKeyless] += 2
	r.count -= 2
	return r.flush(false)
}

// unkeyed says that an event is not to be handed on: it was dropped, or the file ends before the end of a read.
func (r *Reader) unkeyed(q *queued) (gone bool, err error) {
	switch {
	case q.dropped:
		return true, nil
	case q.Key != "" || !q.keyless:
		return false, nil
	case q.F == models.Read && r.ended:
		r.Skipped[leftKeyless]++
		r.count--
		return true, nil
	}
	return false, r.keyMissing(q.Line)
}

func (r *Reader) keyMissing(line int) error {
	return r.at(line, errors.New("a call without a value, so nothing says for which key it is: other values in the file are "+
		"[key value] tuples; --independent no takes these as they are"))
}
