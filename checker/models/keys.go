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
	lent    bool  // it was granted something since it last gave it back; of models of leases
	doubts        // what nobody knows of it
}

// doubts is what an owner has asked for whose outcome nobody knows.
type doubts struct {
	maybe  int  // acquires
	unsure bool // a release, or anything of which no sweep can say how its owner goes on
}

func (d *doubts) any() bool { return d.maybe > 0 || d.unsure }

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
	retired set64 // owners that are not let in again
	unsure  []ownerID
	limit   int    // of owners, before the idle ones are forgotten
	named   bool   // some event tells an owner
	untold  int    // acquires of unknown outcome whose answer would have told the owner, not used up
	used    bool   // some of them are used up
	since   int    // index of the first of their calls
	loose   *Ref   // the call of the first release or renewal of unknown outcome whose owner nobody knows
	broken  string // which assumption it breaks, and where: what follows is not judged
	beyond  bool   // of what is collected: it goes on behind where a sweep gave the key up
}

// unsureKept is how many owners with something unknown a key remembers in detail.
const unsureKept = 1 << 14

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

// ownerOf returns the owner of that name, or of that process if there is none, and
// nil if it is retired.
func (k *keyLog) ownerOf(name string, process int) *owner {
	id := ownerID{name, process}
	if name != "" {
		id.process, k.named = 0, true
	}
	if o := k.owners[id]; o != nil {
		return o
	}
	if name != "" && k.retired.has(hashString(name)) {
		return nil
	}
	if len(k.owners) >= k.limit {
		for _, o := range k.owners {
			if !o.pending && o.hold == nil && o.session == nil && o.token == 0 && !o.lent && !o.any() {
				k.forget(o)
			}
		}
		k.limit = max(idleKept, 2*len(k.owners))
	}
	o := &owner{name: name, process: id.process}
	k.owners[id] = o
	return o
}

func (k *keyLog) forget(o *owner) {
	o.gone = true
	delete(k.owners, ownerID{o.name, o.process})
}

// remember keeps what is unknown of an owner that may go on by another process. Of too
// many the oldest are retired.
func (k *keyLog) remember(o *owner) {
	k.unsure = append(k.unsure, ownerID{name: o.name})
	if len(k.unsure) < 2*unsureKept {
		return
	}
	for _, id := range k.unsure[:unsureKept] {
		if o := k.owners[id]; o != nil && !o.pending && o.any() {
			k.forgetFor(o)
		}
	}
	k.unsure = append(k.unsure[:0], k.unsure[unsureKept:]...)
}

// forgetFor retires an owner.
func (k *keyLog) forgetFor(o *owner) {
	k.forget(o)
	if o.name != "" {
		k.retired.add(hashString(o.name))
	}
}
