package links

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// When is the event on a link that a fault waits for. The zero value is at once.
// Otherwise give Name or Contains or both, or Bytes. A fault is triggered once, by
// the first connection on which its event happens.
type When struct {
	Direction Direction `json:"direction,omitempty"` // where to look; empty: Request
	Name      string    `json:"name,omitempty"`      // a message of this name, in any case; the link's protocol must be known
	Contains  string    `json:"contains,omitempty"`  // with these bytes in its first 4 KiB; without a protocol, anywhere in the stream
	Bytes     int64     `json:"bytes,omitempty"`     // or: the byte after so many more of a connection
	Skip      int       `json:"skip,omitempty"`      // let this many such events pass first
	After     bool      `json:"after,omitempty"`     // act behind the message, which still passes; else in front of it
	Turn      *Turn     `json:"-"`                   // shared by faults on several links, of which only one is to strike; nil: each strikes
}

// Turn counts the events of several faults together: Skip of them pass, the next
// one strikes, and no other does.
type Turn struct {
	// Ask is asked whether the one whose turn it is may strike; nil: it may. Its
	// connection stands meanwhile.
	Ask func() bool

	mu    sync.Mutex
	skip  int
	taken bool
}

// NewTurn lets skip events pass first.
func NewTurn(skip int) *Turn { return &Turn{skip: skip} }

// take says whether the event that has just come is the one that strikes.
func (t *Turn) take() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.taken || t.skip > 0 {
		t.skip = max(t.skip-1, 0)
		return false
	}
	t.taken = true
	return t.Ask == nil || t.Ask()
}

// Now says that there is nothing to wait for.
func (w When) Now() bool { return w.Name == "" && w.Contains == "" && w.Bytes == 0 }

// check refuses what would never happen, or mean two things.
func (w When) check(p wire.Protocol) error {
	switch {
	case w.Direction != "" && w.Direction != Request && w.Direction != Answer:
		return fmt.Errorf("when: direction %q is neither request nor answer", w.Direction)
	case w.Now() && (w.Skip != 0 || w.After || w.Direction != ""):
		return errors.New("when: skip, after and direction need a name, contains or bytes")
	case w.Bytes != 0 && (w.Name != "" || w.Contains != ""):
		return errors.New("when: bytes go with neither name nor contains")
	case w.Name != "" && p == wire.None:
		return fmt.Errorf("when: the name %q needs a link whose protocol is known", w.Name)
	case w.Bytes < 0 || w.Skip < 0:
		return errors.New("when: bytes and skip must not be below 0")
	}
	return nil
}

// watch looks for the event of one fault in one flow.
type watch struct {
	fault *Fault
	when  When
	tail  []byte // of a stream without messages: what a pattern may have begun in
	count int64  // bytes seen since it was armed
}

// sight is a chunk of a flow, and the messages that it completes.
type sight struct {
	base     int64
	data     []byte
	messages []wire.Message
	err      error // the protocol was not understood
}

// event is where in the stream a watch has found what it looks for.
type event struct {
	name     string
	from, to int64
}

// scan returns the events in a chunk.
func (w *watch) scan(s sight) []event {
	switch {
	case w.when.Bytes > 0:
		return w.counted(s)
	case w.fault.link.protocol == wire.None:
		return w.pattern(s)
	}
	if s.err != nil {
		w.fault.deaf(s.err)
	}
	var found []event
	for _, m := range s.messages {
		if (w.when.Name == "" || strings.EqualFold(w.when.Name, m.Name)) && bytes.Contains(m.Body, []byte(w.when.Contains)) {
			found = append(found, event{m.Name, m.From, m.To})
		}
	}
	return found
}

// counted finds the byte after so many since the watch was set.
func (w *watch) counted(s sight) []event {
	at := s.base + w.when.Bytes - w.count
	w.count += int64(len(s.data))
	if at < s.base || w.count <= w.when.Bytes {
		return nil
	}
	return []event{{"bytes", at, at + 1}}
}

// pattern finds the pattern in the stream, also where two chunks meet.
func (w *watch) pattern(s sight) (found []event) {
	want := []byte(w.when.Contains)
	text := append(w.tail, s.data...)
	base := s.base - int64(len(w.tail))
	at := 0
	for {
		i := bytes.Index(text[at:], want)
		if i < 0 {
			break
		}
		at += i
		found = append(found, event{"bytes", base + int64(at), base + int64(at+len(want))})
		at += len(want)
	}
	keep := max(at, len(text)-len(want)+1)
	w.tail = bytes.Clone(text[keep:])
	return found
}
