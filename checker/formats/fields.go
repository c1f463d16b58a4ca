package formats

import (
	"maps"
	"slices"
	"strings"
)

// fields are the names under which a field of an operation stands, beside its value or in
// the map that is its value.
var fields = map[string]told{
	"process": toldProcess, "type": toldType, "f": toldF, "value": toldValue, "key": toldKey, "time": toldTime,
	"owner": toldOwner, "token": toldToken, "fence": toldToken, "lease": toldLease, "try": toldTry, "error": toldNote, "refused": toldRefused,
	"mode": toldMode, "permits": toldPermits,
}

// otherNames are further names of a field, as suites write them, in any case and with _ for -
// allowed. One that stands beside the field's own name says something else.
var otherNames = map[string]told{
	"client": toldOwner, "client-id": toldOwner, "clientid": toldOwner, "owner-id": toldOwner, "ownerid": toldOwner,
	"fencing-token": toldToken, "fencingtoken": toldToken, "fence-token": toldToken, "fencetoken": toldToken,
	"lock": toldKey, "resource": toldKey, "lock-name": toldKey, "lockname": toldKey, "lock-key": toldKey, "lockkey": toldKey,
	"resource-name": toldKey, "resourcename": toldKey, "resource-id": toldKey, "resourceid": toldKey,
	"shared": toldMode, "exclusive": toldMode, "lock-mode": toldMode, "lockmode": toldMode, "lock-type": toldMode, "locktype": toldMode,
	"acquired": toldAnswer, "acquired?": toldAnswer, "granted": toldAnswer, "granted?": toldAnswer, "released": toldAnswer,
	"released?": toldAnswer, "success": toldAnswer, "success?": toldAnswer, "succeeded": toldAnswer, "result": toldAnswer,
}

// FieldRoles are the fields that a user may say a name stands for, in Options.Fields; "-"
// passes over it.
var FieldRoles = []string{"owner", "token", "key", "lease", "answer", "mode", "process", "type", "f", "value", "time", "-"}

// roleFields are the fields that FieldRoles name; "-" is none.
var roleFields = map[string]told{"owner": toldOwner, "token": toldToken, "key": toldKey, "lease": toldLease, "answer": toldAnswer, "mode": toldMode,
	"process": toldProcess, "type": toldType, "f": toldF, "value": toldValue, "time": toldTime}

// fieldOf says which field a name stands for, and whether it is one of its other names. A colon
// before it is of a keyword that became JSON.
func fieldOf(name string, own map[string]string) (which told, other bool) {
	name = strings.TrimPrefix(name, ":")
	if role, found := own[name]; found {
		return roleFields[role], false
	}
	if which := fields[name]; which != 0 {
		return which, false
	}
	which = otherNames[name]
	if which == 0 {
		which = otherNames[strings.ReplaceAll(strings.ToLower(name), "_", "-")]
	}
	return which, which != 0
}

// beside is what the operations of a file tell under names that nobody knows.
type beside map[string]map[string]int

// passedOver are names that say where or as which operation something ran.
var passedOver = []string{"index", "op-index", "node", "thread", "worker", "host", "id", "uid", "uuid"}

// mostSeen bounds how many names and values of each are remembered.
const mostSeen = 64

func (b beside) see(name string, f form) {
	text, err := f.scalar(name)
	if err != nil || slices.Contains(passedOver, name) || f.nothing() || f.kind == large || len(text) > longestKept {
		return
	}
	if b[name] == nil && len(b) < mostSeen {
		b[name] = map[string]int{}
	}
	if values := b[name]; values != nil && (values[text] > 0 || len(values) < mostSeen) {
		values[text]++
	}
}

// telling are the names whose values vary and come again, as those of locks, owners and
// answers do, and an index or an id of each call does not.
func (b beside) telling() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(b)) {
		again := 0
		for _, n := range b[name] {
			again += n
		}
		if len(b[name]) > 1 && again > len(b[name]) && len(b[name]) < mostSeen {
			names = append(names, name)
		}
	}
	return names
}
