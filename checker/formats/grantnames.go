package formats

import (
	"fmt"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// grantNames names grants: in a history of dlmtest each has a name that no other has, where others
// name the client, or nobody.
type grantNames struct {
	used  map[string]bool
	next  map[string]int    // by what names are like: the number to try next
	now   map[holder]*named // what each was granted last
	calls map[int]*named    // what the open operation of each process is about
}

// holder is who holds a key: an owner or, where none is told, a process.
type holder struct {
	key, owner string
	process    int
}

// named is a grant, or what may become one.
type named struct {
	name, owner string
	given       bool // it was given back, or that was tried
	unsure      bool // whether it was, or for how long it is good, is not known
	nothing     bool // nothing was granted: somebody gives back who may not have it
	token       int64
}

func holderOf(e *models.Event) holder {
	if e.Owner != "" {
		return holder{key: e.Key, owner: e.Owner}
	}
	return holder{key: e.Key, process: e.Process}
}

// of names the grant that an event is about; "": there is none.
func (g *grantNames) of(e *models.Event) (string, error) {
	takes := e.F == models.Acquire || e.F == models.AcquireR || e.F == models.Try
	if e.Type == history.Invoke {
		call := &named{owner: e.Owner}
		if last := g.now[holderOf(e)]; !takes && last != nil {
			call = last
		} else if e.Owner != "" {
			call.name = g.fresh(e.Owner)
		}
		if !takes && e.F != models.Extend && g.now[holderOf(e)] == nil { // until it ends it may be of the next grant
			call.nothing, call.given, call.unsure = true, true, true
			g.now[holderOf(e)] = call
		}
		g.calls[e.Process] = call
		return call.name, nil
	}
	call := g.calls[e.Process]
	delete(g.calls, e.Process)
	switch {
	case call == nil: // the operation was never called, which is said elsewhere
		return e.Owner, nil
	case takes && e.Type == history.Fail:
		delete(g.used, call.name)
		if last := g.now[holderOf(e)]; last != nil && (!last.given || last.unsure) && e.Owner != "" {
			return "", fmt.Errorf("%s is refused what it may hold itself, which a dlmtest history cannot say: write EDN", clip(e.Owner))
		}
	case takes && e.Type == history.OK:
		return g.granted(call, e)
	case takes:
		if last := g.now[holderOf(e)]; call.name != "" && (last == nil || last.given) {
			g.now[holderOf(e)] = call
		}
	case e.F != models.Extend:
		call.given, call.unsure = true, call.unsure && !call.nothing || e.Type == history.Info
	}
	return call.name, nil
}

func (g *grantNames) granted(call *named, e *models.Event) (string, error) {
	who := e.Owner
	if who == "" {
		who = fmt.Sprintf("process %d", e.Process)
	}
	if last := g.now[holderOf(e)]; last != nil && !last.given {
		return "", fmt.Errorf("%s is granted the lock again before it gave it back, which a dlmtest history cannot say: write EDN", clip(who))
	}
	if last := g.now[holderOf(e)]; last != nil && e.Token > 0 && last.token == e.Token {
		return "", fmt.Errorf("%s is told once more of the grant that it has (token %d), which a dlmtest history cannot say: write EDN", clip(who), e.Token)
	}
	if last := g.now[holderOf(e)]; last != nil && last.unsure && e.Owner != "" {
		return "", fmt.Errorf("%s is granted the lock again after a release of unknown outcome, which may end this "+
			"grant, too; a dlmtest history cannot say that: write EDN", clip(who))
	}
	if call.owner != e.Owner && call.owner != "" && e.Owner != "" {
		return "", fmt.Errorf("it is granted to %s, but was asked for by %s", clip(who), clip(call.owner))
	}
	if call.name == "" {
		call.name = g.fresh(who)
	}
	call.token = e.Token
	g.now[holderOf(e)] = call
	return call.name, nil
}

// fresh is a name that no grant has, like another.
func (g *grantNames) fresh(like string) string {
	name := like
	for g.used[name] {
		g.next[like]++
		name = fmt.Sprintf("%s#%d", like, g.next[like]+1)
	}
	g.used[name] = true
	return name
}
