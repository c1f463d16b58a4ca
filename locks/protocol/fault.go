package protocol

import (
	"fmt"
	"strings"
)

// Kind is one way to break the protocol.
type Kind string

// The kinds of fault.
const (
	Garbage    Kind = "garbage"    // a line that is no message
	LongLine   Kind = "long-line"  // a line longer than LineMax
	Died       Kind = "died"       // the process has ended unasked
	Hangs      Kind = "hangs"      // no answer, and none to a ping
	Twice      Kind = "twice"      // a second answer to one request
	Unasked    Kind = "unasked"    // an answer to nothing that was asked
	Overclaims Kind = "overclaims" // offers what it then does not do, or does what it does not offer
	Mistaken   Kind = "mistaken"   // an answer that does not fit its request
	Floods     Kind = "floods"     // more events and words than any library has to tell
	StaysOn    Kind = "stays-on"   // does not end when asked to
	NoStart    Kind = "no-start"   // cannot be started
	NoVersion  Kind = "no-version" // speaks no version that we speak
)

// Advice says, for a newcomer, what to do about each kind.
var Advice = map[Kind]string{
	Garbage:  "print nothing but messages to stdout, one JSON object a line; logs belong on stderr",
	LongLine: fmt.Sprintf("a line has at most %d bytes; shorten messages and print logs to stderr", LineMax),
	Died:     "catch what the library throws and answer it as an error; what was printed last is on stderr",
	Hangs: "answer every request, also when the library fails; while one waits in the library others must be read, " +
		"so run each in a thread of its own and offer concurrent",
	Twice:      "answer each id once: look for a path that answers and then also reports an error",
	Unasked:    "copy the id of the request into its answer, and answer nothing before it is asked",
	Overclaims: "offer in hello just what the library does",
	Mistaken:   "answer with the fields and codes that docs/protocol.md lists for this request",
	Floods:     "send an event when something changes, not again and again, and keep messages short",
	StaysOn:    "answer close, then end when stdin ends; do not leave threads or children that keep the process alive",
	NoStart: "try the command by hand where clients run, with Docker in the image that --client-image names (the default one has " +
		"no Python and no Java); it must read requests on stdin",
	NoVersion: "answer hello with one of the versions that it names",
}

// Fault is a mistake of an adapter: it says nothing about the lock.
type Fault struct {
	Kind   Kind
	Detail string // what was seen
	Last   string // what the adapter wrote last to stderr
}

// Error implements error.
func (f *Fault) Error() string {
	s := fmt.Sprintf("the adapter's fault (%s): %s; %s", f.Kind, f.Detail, Advice[f.Kind])
	if f.Last != "" {
		s += "; its last words on stderr: " + strings.TrimSpace(f.Last)
	}
	return s
}

func fault(kind Kind, format string, args ...any) *Fault {
	return &Fault{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}
