package formats

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// largestEtcd is how many bytes of etcd's operations are read: they are in no order.
const largestEtcd = 1 << 28

// etcdLine is one operation as etcd's robustness tests write it: Porcupine's, as JSON.
type etcdLine struct {
	ClientID int `json:"ClientId"`
	Input    models.EtcdRequest
	Call     int64
	Output   models.EtcdResponse
	Return   int64           // 0: it failed, and nobody knows when that took effect, if it did
	Metadata json.RawMessage // newer Porcupine has a place for it
}

// etcdEnd is a call, or a return, at its time.
type etcdEnd struct {
	at      int64
	returns int
	models.Event
}

// readEtcd reads the operations of etcd's robustness tests. A request that failed may have
// had an effect at any time after its call; one that only reads says nothing then.
func (r *Reader) readEtcd() error {
	all, err := io.ReadAll(io.LimitReader(r.in, largestEtcd+1))
	if err == nil && len(all) > largestEtcd {
		err = fmt.Errorf("more than %d bytes of etcd's operations", largestEtcd)
	}
	if err != nil {
		return err
	}
	e := &etcdReader{r: r, raised: 1, next: map[int]int{}}
	d := json.NewDecoder(bytes.NewReader(all))
	d.DisallowUnknownFields()
	line, last := 1, int64(0)
	for d.More() {
		at := d.InputOffset()
		start := at + int64(len(all[at:])-len(bytes.TrimLeft(all[at:], blanks)))
		line += bytes.Count(all[last:start], []byte("\n"))
		last = start
		var o etcdLine
		if err := d.Decode(&o); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				err = ErrTruncated
			}
			return r.at(line, err)
		}
		if err := e.add(&o, line); err != nil {
			return r.at(line, err)
		}
	}
	if rest := bytes.TrimLeft(all[d.InputOffset():], blanks); len(rest) > 0 {
		return fmt.Errorf("want one operation after the other, got %q", rest[0])
	}
	return e.give()
}

type etcdReader struct {
	r         *Reader
	ends      []etcdEnd
	next      map[int]int // process of each client, in files that let it go on after a failure
	processes int
	raised    int64 // the greatest revision that the requests explain
	told      int64 // and that was told
	line      int   // of it
}

func (e *etcdReader) add(o *etcdLine, line int) error {
	if err := o.Input.Check(); err != nil {
		return err
	}
	failed := o.Output.Error != "" || o.Output.Persisted && o.Return == 0
	switch {
	case o.Call < 0 || o.Call > furthest || o.Return > furthest:
		return fmt.Errorf("a call at %d and a return at %d: want times of 0 to %d", o.Call, o.Return, int64(furthest))
	case !failed && o.Return <= o.Call:
		return fmt.Errorf("it returned at %d, and was called at %d", o.Return, o.Call)
	case failed && (!o.Input.Changes() && o.Input.Type != models.EtcdTypeGrant && o.Input.Type != models.EtcdTypeComp ||
		o.Input.LeaseGrant != nil && o.Input.LeaseGrant.LeaseID == 0):
		e.r.Skipped["requests that failed and change nothing that others see"]++
		return nil
	case len(e.ends) > 2*OperationsKept:
		return fmt.Errorf("more than %d operations", OperationsKept)
	}
	if o.Input.Changes() {
		e.raised++
	}
	if o.Output.Revision > e.told {
		e.told, e.line = o.Output.Revision, line
	}
	if at := o.Input.Range; at != nil && at.Revision != 0 {
		e.r.Skipped["contents of reads of an old revision, of which the revision at that time alone is judged"]++
	}
	ask, err := json.Marshal(o.Input)
	if err != nil {
		return err
	}
	process, known := e.next[o.ClientID]
	if !known {
		e.processes++
		process = e.processes
		e.next[o.ClientID] = process
	}
	call := models.Event{Line: line, Time: o.Call, Timed: o.Call == 0, Process: process, Type: history.Invoke, F: models.Request, Old: string(ask)}
	e.ends = append(e.ends, etcdEnd{o.Call, 0, call})
	done := call
	if failed {
		delete(e.next, o.ClientID)
		done.Type, done.Note = history.Info, o.Output.Error
		e.ends = append(e.ends, etcdEnd{furthest, 1, done})
		return nil
	}
	said, err := json.Marshal(o.Output)
	done.Type, done.Time, done.Timed, done.Value = history.OK, o.Return, false, string(said)
	e.ends = append(e.ends, etcdEnd{o.Return, 1, done})
	return err
}

// give gives calls and returns in their order; who touch count as concurrent, as with
// Porcupine.
func (e *etcdReader) give() error {
	if e.told > e.raised {
		return e.r.at(e.line, fmt.Errorf("revision %d is told, and the requests in it explain at most %d: it is not the "+
			"whole history, which is in the files of all clients (give the folder in which the client-N are), or the cluster was not new", e.told, e.raised))
	}
	slices.SortStableFunc(e.ends, func(a, b etcdEnd) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.returns, b.returns)) })
	last := int64(0)
	for i := range e.ends {
		event := &e.ends[i].Event
		if event.Type == history.Info {
			event.Time = last
		}
		last = max(last, event.Time)
		if err := e.r.give(event); err != nil {
			return err
		}
	}
	return nil
}
