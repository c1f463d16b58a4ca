// Package formats reads and writes histories that others recorded: each format
// becomes models.Event, one by one, in memory that does not grow with the file
// but for what is pending. A file that breaks a rule gives an error with its
// line and the reason, never a guess.
package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// Format is one way in which histories are written.
type Format struct {
	Name  string
	About string
	read  func(*Reader) error
}

// Formats is the table of all formats.
func Formats() []Format {
	return []Format{
		{"dlmtest", "history.jsonl of a run of dlmtest: its locks, or with --part its guarded resource", (*Reader).readDlmtest},
		{"jepsen", "Jepsen's EDN: one vector or list of maps, or one map after the other; [key value] tuples; tagged literals", (*Reader).readEDN},
		{"jepsen-blocks", "Jepsen's test.jepsen: the history that is stored in its blocks", (*Reader).readBlocks},
		{"jepsen-log", "Jepsen's log: lines that end in PROCESS :invoke :read nil", (*Reader).readLog},
		{"kv", "Porcupine's key-value lines: EDN maps that all have a :key", (*Reader).readKV},
		{"timelock", "AtlasDB TimeLock's JSON: an invoke's value is the name of the lock, an ok's its answer; events of " +
			"one time count as concurrent", (*Reader).readTimelock},
		{"elle", "elle-cli's JSON: one array of objects, or one after the other", (*Reader).readElle},
		{"etcd", "etcd's robustness tests: operations.json of each client, or the folder that has the folders of all of them", (*Reader).readEtcd},
		{"fptlin", "fptlin's text: # rmw, then PROCESS rmw OLD NEW START END", (*Reader).readFptlin},
		{"operations", `JSON objects of one whole operation each: "process", "f", "value", "call", "ret", "out"`, (*Reader).readOperations},
	}
}

// Options say what a file does not say itself. The zero value finds out.
type Options struct {
	Format      string              // a name of Formats; empty: by looking
	Independent string              // whether values are [key value] tuples: yes or no; empty: by looking
	Meanings    map[string]models.F // words for operations beside Names; "-" leaves them out
	Fields      map[string]string   // what a name in an operation stands for, one of FieldRoles, beside the names that are known
	No          []string            // answers of a lock that mean no, beside false; empty: answers that may be one are refused
	ValueIs     string              // what the values of lock operations are, one of ValueRoles; empty: by looking
	Values      string              // whether "1" and 1 are the same or apart; empty: a file that has both is refused
	Part        string              // of a dlmtest history: PartLock (also if empty), PartFenced or PartUnfenced
}

// Reader reads one history.
type Reader struct {
	Format  string         // its name
	Skipped map[string]int // what was left out, in words, and how often
	MayHave int            // failures that may have had an effect, which only locks with claims allow
	Numbers int64          // the greatest value of an acquire, if all at its beginning are numbers from 1 on
	Leases  [2]int         // grants that tell a lease, and those of them whose lease lasted until they were answered

	file string
	in   io.Reader
	o    Options
	read func(*Reader) error
	emit func(models.Event) bool
	// looking is told of the operations, instead of the one who reads, for as long as it wants more.
	looking func(*step) (more bool)
	notes   beside // of the one who looks: what stands under names that are not known

	processes map[int]*pending
	limit     int               // of processes, before the idle ones are forgotten
	retired   history.Processes // by an unknown outcome
	tuples    answer
	values    mixture
	keys      mixture
	last      int64 // time
	count     int
	role      role            // of the values of lock operations
	same      string          // the only such value so far, if they say nothing
	sameKey   string          // the only name of a lock that answers alone told so far
	again     bool            // some process was granted a lock twice for one owner
	renamed   bool            // some process was granted a lock for two owners, one after the other
	queue     []queued        // events that wait for an owner to be told
	sent      int             // events that have left it
	asking    string          // the value of the call at hand
	keyless   bool            // which names no key
	ended     bool            // the file
	clients   clients         // processes that have names and no numbers
	unread    []string        // names under which something stands that may matter
	readings  [][]string      // see doubtful.go
	apart     bool            // readers give back in a word of their own
	reading   map[holder]bool // who holds as a reader, of those who may give back in a word for both
	answered  answers         // what locks answered
}

// Open looks at in, whose name in errors is file, and chooses its format.
func Open(in io.Reader, file string, o Options) (*Reader, error) {
	r := &Reader{Format: o.Format, Skipped: map[string]int{}, file: file, o: o,
		processes: map[int]*pending{}, tuples: answer(o.Independent), role: role(o.ValueIs)}
	r.values.how, r.keys.how = o.Values, o.Values
	text, first, err := history.Unpack(in, looked)
	if err != nil {
		return nil, &Error{File: file, Err: err}
	}
	if r.Format == "" {
		name, err := detect(first, o.Fields)
		if err != nil {
			return nil, &Error{File: file, Err: err}
		}
		r.Format = name
	}
	if r.Format == "jepsen-blocks" { // the history is anywhere in it
		if first, err = io.ReadAll(io.LimitReader(text, largestTest+1)); err != nil {
			return nil, &Error{File: file, Err: err}
		}
		text = bytes.NewReader(first)
	}
	r.in = text
	if err := r.survey(first); err != nil {
		return nil, &Error{File: file, Err: err}
	}
	for _, f := range Formats() {
		if f.Name == r.Format {
			r.read = f.read
			return r, nil
		}
	}
	return nil, fmt.Errorf("unknown format %q", r.Format)
}

// errStop ends reading when nobody wants more.
var errStop = errors.New("stopped")

// Events gives the events in their order, and an error as the last. It can be
// used once.
func (r *Reader) Events() iter.Seq2[models.Event, error] {
	return func(yield func(models.Event, error) bool) {
		r.emit = func(e models.Event) bool { return yield(e, nil) }
		err := r.read(r)
		if err == nil {
			r.ended = true
			err = r.flush(true)
		}
		if err == nil && r.count == 0 {
			err = &Error{Err: fmt.Errorf("no operation of a client in it%s", r.nothing())}
		}
		if err == nil || errors.Is(err, errStop) {
			return
		}
		var at *Error
		if errors.As(err, &at) {
			at.File = r.file
		} else {
			err = &Error{File: r.file, Err: err}
		}
		yield(models.Event{}, err)
	}
}

// LeftOut says in words what of the file became no event; empty: nothing.
func (r *Reader) LeftOut() string {
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(r.Skipped)) {
		parts = append(parts, fmt.Sprintf("%d %s", r.Skipped[what], what))
	}
	if len(r.unread) > 0 {
		parts = append(parts, fmt.Sprintf("what stands under %s: --field NAME=key|owner|token|answer says if it matters", strings.Join(r.unread, ", ")))
	}
	return strings.Join(parts, ", ")
}

func (r *Reader) nothing() string {
	if text := r.LeftOut(); text != "" {
		return ": only " + text
	}
	return ""
}

// answer is yes, no, or not known yet.
type answer string

const (
	yes answer = "yes"
	no  answer = "no"
)

func answered(b bool) answer {
	if b {
		return yes
	}
	return no
}
