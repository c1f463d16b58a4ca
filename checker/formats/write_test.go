package formats

import (
	"bytes"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

func each(events []models.Event) iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// anyEvents draws a history as a reader would give it: calls and their ends.
func anyEvents(t *rapid.T) []models.Event {
	words := rapid.OneOf(rapid.SampledFrom([]string{"1", "-7", ":none", ":a/b", "true", "nil", "x y", "1.5e3", "0x1f", "[1 2]", `"`, `\n`, "#_", "a\nb\t\r", "ü€😀", ":", "::a", "-", "1/2", "+1", "01"}), rapid.StringN(1, 8, -1))
	word := func(name string) string {
		if s := strings.ToValidUTF8(words.Draw(t, name), "?"); s != "" {
			return s
		}
		return "w"
	}
	maybe := func(name string) string {
		if rapid.Bool().Draw(t, name+"?") {
			return ""
		}
		return word(name)
	}
	keyed, register := rapid.Bool().Draw(t, "keyed"), rapid.Bool().Draw(t, "register")
	fs := []models.F{models.Acquire, models.AcquireR, models.Try, models.Extend, models.Release, models.ReleaseR}
	if register {
		fs = []models.F{models.Read, models.Write, models.CAS, models.Append}
	}
	open, gone, owners := map[int]models.Event{}, map[int]bool{}, map[int]string{} // each process for one owner, or none
	for p := range 6 {
		owners[p] = maybe("owner")
	}
	now := int64(0)
	var events []models.Event
	for range rapid.IntRange(1, 30).Draw(t, "events") {
		e := models.Event{Process: rapid.IntRange(0, 5).Draw(t, "process"), Note: maybe("note")}
		if gone[e.Process] {
			continue
		}
		if now += rapid.Int64Range(0, 9).Draw(t, "passes"); now > 0 {
			e.Time = now
		}
		call, busy := open[e.Process]
		if !busy {
			e.Type, e.F, e.Owner = history.Invoke, rapid.SampledFrom(fs).Draw(t, "f"), owners[e.Process]
			if keyed {
				e.Key = word("key")
			}
			if register && e.F != models.Read {
				e.Value = word("value")
			}
			if e.F == models.CAS {
				e.Old = maybe("old")
			}
			open[e.Process] = e
			events = append(events, e)
			continue
		}
		delete(open, e.Process)
		e.Type = rapid.SampledFrom([]history.Type{history.OK, history.Fail, history.Info}).Draw(t, "type")
		gone[e.Process] = e.Type == history.Info
		e.F, e.Key, e.Owner, e.Value, e.Old = call.F, call.Key, call.Owner, call.Value, call.Old
		if e.F == models.Read && e.Type == history.OK {
			e.Value = maybe("read")
		}
		if !register && e.Type == history.OK {
			e.Token, e.Lease = rapid.Int64Range(0, 1<<63-1).Draw(t, "token"), rapid.Int64Range(0, furthest).Draw(t, "lease")
		}
		events = append(events, e)
	}
	return events
}

// TestRoundTripEDN: what an event holds survives being written and read, in both
// layouts.
func TestRoundTripEDN(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		events := anyEvents(t)
		if len(events) == 0 {
			return
		}
		layout := rapid.SampledFrom([]Layout{Lines, Vector}).Draw(t, "layout")
		var file bytes.Buffer
		if err := WriteEDN(&file, each(events), layout); err != nil {
			t.Fatal(err)
		}
		format, _, got, err := drain(bytes.NewReader(file.Bytes()), Options{})
		if err != nil || format != "jepsen" {
			t.Fatalf("%s: %v\n%s", format, err, file.Bytes())
		}
		for i := range got {
			got[i].Line = 0
		}
		if !reflect.DeepEqual(got, events) {
			t.Fatalf("read\n%+v\nwritten\n%+v\n%s", got, events, file.Bytes())
		}
	})
}

// TestWriteEDN is what Knossos sees.
func TestWriteEDN(t *testing.T) {
	events := []models.Event{
		{Process: 1, Type: history.Invoke, F: models.Try, Key: "a", Time: 5},
		{Process: 1, Type: history.OK, F: models.Try, Key: "a", Owner: "o/1", Token: 3, Lease: 9},
	}
	var lines, vector bytes.Buffer
	if err := WriteEDN(&lines, each(events), Lines); err != nil {
		t.Fatal(err)
	}
	if err := WriteEDN(&vector, each(events), Vector); err != nil {
		t.Fatal(err)
	}
	const want = `{:process 1, :type :invoke, :f :acquire, :value ["a" nil], :try true, :time 5}
{:process 1, :type :ok, :f :acquire, :value ["a" nil], :try true, :token 3, :lease 9, :owner "o/1"}
`
	if lines.String() != want {
		t.Errorf("got\n%s", &lines)
	}
	if got := vector.String(); got != "["+strings.Replace(want, "\n{", "\n {", 1)+"]\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestWriteRefuses(t *testing.T) {
	lock := models.Event{Line: 1, Process: 1, Type: history.Invoke, F: models.Acquire, Time: 1}
	with := func(change func(*models.Event)) []models.Event {
		e := lock
		e.Line, e.Process = 2, 2
		change(&e)
		return []models.Event{lock, e}
	}
	for _, c := range []struct {
		name, want string
		events     []models.Event
		dlmtest    bool
		lease      time.Duration
	}{
		{"keys", "line 2: some events have a key and some have none", with(func(e *models.Event) { e.Key = "k" }), false, 0},
		{"bytes", "line 2: \"\\xff\" is no UTF-8", with(func(e *models.Event) { e.Note = "\xff" }), false, 0},
		{"word", `line 2: f "steal": there is no word for it`, with(func(e *models.Event) { e.F = "steal" }), false, 0},
		{"register", "line 2: a dlmtest history has no cas outside of a run", with(func(e *models.Event) { e.F = models.CAS }), true, 0},
		{"no time", "line 2: the event has no time", with(func(e *models.Event) { e.Time = 0 }), true, 0},
		{"held twice", `line 5: "a" is granted the lock again before it gave it back`, []models.Event{
			{Line: 2, Process: 1, Type: history.Invoke, F: models.Acquire, Owner: "a", Time: 1}, {Line: 3, Process: 1, Type: history.OK, F: models.Acquire, Owner: "a", Time: 2},
			{Line: 4, Process: 1, Type: history.Invoke, F: models.Acquire, Owner: "a", Time: 3}, {Line: 5, Process: 1, Type: history.OK, F: models.Acquire, Owner: "a", Time: 4}}, true, time.Second},
		{"given back by whom nothing was granted yet", `line 5: "a" is granted the lock again after a release of unknown outcome`, []models.Event{
			{Line: 2, Process: 1, Type: history.Invoke, F: models.Release, Owner: "a", Time: 1}, {Line: 3, Process: 1, Type: history.Info, F: models.Release, Owner: "a", Time: 2},
			{Line: 4, Process: 2, Type: history.Invoke, F: models.Acquire, Owner: "a", Time: 3}, {Line: 5, Process: 2, Type: history.OK, F: models.Acquire, Owner: "a", Time: 4}}, true, time.Second},
		{"pending twice", "line 2: the operation of line 2 of the process is still pending", with(func(e *models.Event) { e.Process = 1 }), true, time.Second},
		{"no lease", "there is no dlmtest history of this: setup: lease 0s", []models.Event{lock}, true, 0},
	} {
		write := func() error { return WriteEDN(&bytes.Buffer{}, each(c.events), Lines) }
		if c.dlmtest {
			write = func() error { return WriteDlmtest(&bytes.Buffer{}, each(c.events), c.lease) }
		}
		if err := write(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

// TestWriteDlmtest: locks survive being written as dlmtest's own history.
func TestWriteDlmtest(t *testing.T) {
	var events []models.Event
	for i := range 10 {
		owner := fmt.Sprintf("o%d", i)
		for j, e := range []models.Event{{Type: history.Invoke, F: models.Acquire}, {Type: history.OK, F: models.Acquire, Owner: owner, Token: int64(i + 1)},
			{Type: history.Invoke, F: models.Release, Owner: owner}, {Type: history.Fail, F: models.Release, Owner: owner, Note: "lost"}} {
			e.Process, e.Time, e.Key, e.Line = i%3, int64(4*i+j+1), "k", 4*i+j+2
			events = append(events, e)
		}
	}
	var file bytes.Buffer
	if err := WriteDlmtest(&file, each(events), 2*time.Second); err != nil {
		t.Fatal(err)
	}
	setup, ops, err := history.Decode(bytes.NewReader(file.Bytes()))
	if err == nil {
		err = history.Validate(setup, ops)
	}
	if err != nil || setup.Lease != 2*time.Second || !setup.Promise.Token || setup.Promise.Leased {
		t.Fatalf("%v, %+v", err, setup)
	}
	format, _, got, err := drain(&file, Options{})
	if err != nil || format != "dlmtest" || !reflect.DeepEqual(got, events) {
		t.Errorf("%s, %v: read\n%+v\nwritten\n%+v", format, err, got, events)
	}
}

// TestWriteDlmtestIsRead: what is written of any history is read by who judges it, and says the
// same, apart from the names of owners.
func TestWriteDlmtestIsRead(t *testing.T) {
	wrote, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		events := anyEvents(t)
		for i := range events {
			e := &events[i]
			e.Line, e.Lease, e.Timed = i+2, e.Lease%int64(time.Hour), false
			e.Time++
		}
		all++
		var file bytes.Buffer
		if WriteDlmtest(&file, each(events), time.Second) != nil {
			return
		}
		setup, ops, err := history.Decode(bytes.NewReader(file.Bytes()))
		if err == nil {
			err = history.Validate(setup, ops)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, &file)
		}
		_, _, got, err := drain(&file, Options{})
		if len(events) == 0 && len(got) == 0 { // there is nothing to judge
			return
		}
		if err != nil || len(got) != len(events) {
			t.Fatalf("%d events of %d: %v", len(got), len(events), err)
		}
		wrote++
		for i := range got {
			want := events[i]
			if want.Key == "" {
				want.Key = theKey
			}
			got[i].Owner, want.Owner = "", ""
			if !reflect.DeepEqual(got[i], want) {
				t.Fatalf("read\n%+v\nwritten\n%+v", got[i], want)
			}
		}
	})
	if wrote < all/5 {
		t.Errorf("only %d of %d were written", wrote, all)
	}
}

// TestWriteDlmtestNames: one client that comes again is no grant that comes again.
func TestWriteDlmtestNames(t *testing.T) {
	var events []models.Event
	for i, e := range []models.Event{{Type: history.Invoke, F: models.Acquire, Owner: "a"}, {Type: history.OK, F: models.Acquire, Owner: "a"},
		{Type: history.Invoke, F: models.Extend, Owner: "a"}, {Type: history.OK, F: models.Extend, Owner: "a"},
		{Type: history.Invoke, F: models.Release, Owner: "a"}, {Type: history.OK, F: models.Release, Owner: "a"}} {
		e.Process, e.Key, e.Time, e.Line = 1, "k", int64(i+1), i+2
		events = append(events, e)
	}
	for _, e := range events[:6] {
		e.Time += 6
		events = append(events, e)
	}
	var file bytes.Buffer
	if err := WriteDlmtest(&file, each(events), time.Second); err != nil {
		t.Fatal(err)
	}
	setup, ops, err := history.Decode(&file)
	if err == nil {
		err = history.Validate(setup, ops)
	}
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range ops {
		names = append(names, ops[i].Owner)
	}
	if got := strings.Join(names, " "); got != "a a a a a a a#2 a#2 a#2 a#2 a#2 a#2" {
		t.Error(got)
	}
}
