package models

// owner is one owner of one key.
type owner struct {
	name    string
	process int
	pending bool
	gone    bool // no longer in the table
	hold    *hold
	session *session
	token   int64 // of its grant, for renewals; 0: none; of models with tokens
}

// judge decides the history of one key. Independent keys are histories of their
// own: a history is linearizable if and only if each object's part is (Herlihy
// and Wing 1990, locality).
type judge interface {
	call(*operation) (why string) // which assumption the call breaks
	done(*operation)              // Type is OK, Fail or Info; also for what never ended, as Info
	end()
}

// keyLog is one key with its owners.
type keyLog struct {
	name    string
	judge   judge
	pending []*operation // those called and not ended, in no order
	owners  map[ownerID]*owner
	retired set64
	limit   int // of owners, before the idle ones are forgotten
}

// oldest is the index of the earliest call that is pending, or next.
func (k *keyLog) oldest(next int) int {
	for _, op := range k.pending {
		next = min(next, op.call.Index)
	}
	return next
}

type ownerID struct {
	name    string
	process int // 0 if there is a name
}

func (f *front) keyOf(name string) *keyLog {
	if f.key != nil && f.key.name == name {
		return f.key
	}
	k := f.keys[name]
	if k == nil {
		k = &keyLog{name: name, owners: map[ownerID]*owner{}, limit: idleKept}
		k.judge = f.judge(k, f.found)
		f.keys[name] = k
	}
	f.key = k
	return k
}

// ownerOf returns the owner of an event, nil if it is retired. An event without
// one is its process's, which the process's own retirement covers.
func (k *keyLog) ownerOf(e *Event) *owner {
	id := ownerID{e.Owner, e.Process}
	if e.Owner != "" {
		id.process = 0
	}
	if o := k.owners[id]; o != nil {
		return o
	}
	if e.Owner != "" && k.retired.has(hashString(e.Owner)) {
		return nil
	}
	if len(k.owners) >= k.limit {
		for _, o := range k.owners {
			if !o.pending && o.hold == nil && o.session == nil && o.token == 0 {
				k.forget(o)
			}
		}
		k.limit = max(idleKept, 2*len(k.owners))
	}
	o := &owner{name: e.Owner, process: id.process}
	k.owners[id] = o
	return o
}

func (k *keyLog) forget(o *owner) {
	o.gone = true
	delete(k.owners, ownerID{o.name, o.process})
}
