package formats

import (
	"maps"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/history"
)

// What stands under a name that is not known, beside an operation or in the map that is its value, may decide the verdict: the
// lock under :lock-id, its owner under :holder, its answer under :status, its token under :epoch. A survey says what each may
// be. Who judges the file judges it by these readings, too, and refuses it where the verdict would be another.

// unknownName is what a survey saw under one name, in operations of locks.
type unknownName struct {
	called  bool // in the call of an acquire
	granted bool // in the end of one that returned OK
	ended   bool // in the end of any operation that returned OK
	whole   bool // whole numbers alone
	refuses bool // some such end says what may be a no
	values  map[string]bool
	last    map[string]string // of each process
	varies  bool              // some process told two
}

// mostReadings bounds how many readings of a file there are.
const mostReadings = 16

func (s *seen) unknown(st *step, takes bool, name string, f form) {
	text, err := f.scalar(name)
	if err != nil || slices.Contains(passedOver, name) || f.nothing() || f.kind >= list ||
		len(text) > longestKept || st.kind != history.Invoke && st.kind != history.OK {
		return
	}
	n := s.names[name]
	if n == nil {
		if len(s.names) == mostSeen {
			return
		}
		n = &unknownName{values: map[string]bool{}, last: map[string]string{}, whole: true}
		s.names[name] = n
	}
	ok := st.kind == history.OK
	n.called, n.granted, n.ended = n.called || takes && !ok, n.granted || takes && ok, n.ended || ok
	n.whole = n.whole && f.numeral().kind == whole
	n.refuses = n.refuses || ok && saysNo(f)
	if len(n.values) < mostSeen {
		n.values[text] = true
	}
	process := st.process.text
	if before, told := n.last[process]; told || len(n.last) < mostSeen {
		n.varies = n.varies || told && before != text
		n.last[process] = text
	}
}

// refusing are parts of words by which locks refuse.
var refusing = []string{"fail", "busy", "deni", "refus", "reject", "timeout", "timed", "not", "lost", "expire", "unavailable", "conflict", "held", "locked"}

// saysNo says that an answer looks like a refusal.
func saysNo(f form) bool {
	return isNo(f) || (f.kind == text || f.kind == keyword) && (strings.EqualFold(f.text, "no") || hasPart(f.text, refusing))
}

func hasPart(word string, parts []string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(word, part) })
}

// answering are parts of the names of answers.
var answering = []string{"ok", "got", "lock", "obtain", "held", "hold", "own", "acqui", "grant", "succe", "result", "status", "state", "outcome",
	"response", "reply", "answer", "allow", "accept", "appli", "valid", "releas", "renew", "done"}

// ofLocks are parts of the names of what is locked. What stands under another and is the same for all that a process does is
// of the process.
var ofLocks = []string{"lock", "mutex", "resource", "semaphore", "path", "name", "key", "object", "file", "table"}

// ofProcesses are parts of the names of who acts, and where.
var ofProcesses = []string{"thread", "worker", "node", "host", "server", "process", "client", "session"}

// counting are parts of the names of what rises from grant to grant.
var counting = []string{"token", "fenc", "epoch", "revision", "sequen", "zxid", "generation", "version", "term", "ticket", "counter"}

// readings are what the names may stand for, each as NAME=ROLE: one by one, and a key with an owner.
func (s *seen) readings() (all [][]string) {
	var keys, owners []string
	for _, name := range slices.Sorted(maps.Keys(s.names)) {
		n := s.names[name]
		if len(n.values) < 2 {
			continue
		}
		if n.called && (n.varies || hasPart(name, ofLocks) && !hasPart(name, ofProcesses)) {
			keys = append(keys, name+"=key")
		}
		if n.called || n.granted {
			owners = append(owners, name+"=owner")
		}
		if n.ended && n.refuses && hasPart(name, answering) {
			all = append(all, []string{name + "=answer"})
		}
		if n.granted && !n.called && n.whole && !s.tokens && hasPart(name, counting) {
			all = append(all, []string{name + "=token"})
		}
	}
	for _, one := range slices.Concat(keys, owners) {
		all = append(all, []string{one})
	}
	for _, key := range keys {
		for _, owner := range owners {
			if strings.TrimSuffix(key, "=key") != strings.TrimSuffix(owner, "=owner") {
				all = append(all, []string{key, owner})
			}
		}
	}
	return all[:min(len(all), mostReadings)]
}

// Readings are what names that are not known may stand for, each as Options.Fields has them, in words: NAME=ROLE.
func (r *Reader) Readings() [][]string { return r.readings }
