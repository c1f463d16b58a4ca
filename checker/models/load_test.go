package models_test

import (
	"fmt"

	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// load makes the history of a lock under load: clients wait in a queue, hold,
// and give back; unknown percent of the operations have no known outcome; zombies
// many grants come too early. It makes one event at a time and stores nothing.
type load struct {
	n, clients       int
	unknown, zombies int
	tokens           bool
	lease            int64

	rng      uint64
	process  []int
	busy     []models.F
	queue    []int
	holder   int
	made     int
	time     int64
	token    int64
	next     int
	lost     int
	events   int
	everyNth int
}

func (l *load) random(n int) int {
	l.rng = l.rng*6364136223846793005 + 1442695040888963407
	return int(l.rng >> 33 % uint64(n))
}

// run makes the events and hands them on.
func (l *load) run(add func(models.Event)) {
	l.rng, l.holder, l.next = 7, -1, l.clients
	l.process, l.busy = make([]int, l.clients), make([]models.F, l.clients)
	for i := range l.process {
		l.process[i] = i
	}
	l.everyNth = l.n / max(1, 2*l.zombies)
	say := func(c int, typ history.Type, f models.F) {
		l.time += int64(1 + l.random(1000))
		e := models.Event{Line: l.events + 1, Time: l.time, Process: l.process[c], Type: typ, F: f}
		if typ == history.OK && f == models.Acquire && l.tokens {
			l.token++
			e.Token = l.token
		}
		if typ == history.OK && f == models.Acquire {
			e.Lease = l.lease
		}
		l.events++
		add(e)
	}
	retire := func(c int) { l.process[c], l.busy[c] = l.next, ""; l.next++ }
	for l.made < l.n {
		c := l.random(l.clients)
		if l.busy[c] == "" && l.holder != c {
			l.made++
			l.busy[c] = models.Acquire
			l.queue = append(l.queue, c)
			say(c, history.Invoke, models.Acquire)
			continue
		}
		if l.random(1000) < 5*l.unknown && l.busy[c] == models.Acquire { // its client gives up waiting
			for i, q := range l.queue {
				if q == c {
					l.queue = append(l.queue[:i], l.queue[i+1:]...)
					break
				}
			}
			say(c, history.Info, models.Acquire)
			retire(c)
			continue
		}
		if len(l.queue) == 0 || l.random(3) > 0 {
			continue
		}
		if old := l.holder; old >= 0 {
			zombie := l.zombies > 0 && l.made >= l.everyNth*(2*l.lost+1)
			if zombie {
				l.lost++
			} else {
				l.giveBack(old, say, retire)
			}
			l.grant(say)
			if zombie {
				l.giveBack(old, say, retire)
			}
			continue
		}
		l.grant(say)
	}
}

func (l *load) grant(say func(int, history.Type, models.F)) {
	i := l.random(len(l.queue)) // no lock promises order
	l.holder = l.queue[i]
	l.queue = append(l.queue[:i], l.queue[i+1:]...)
	l.busy[l.holder] = ""
	say(l.holder, history.OK, models.Acquire)
}

func (l *load) giveBack(c int, say func(int, history.Type, models.F), retire func(int)) {
	l.made++
	say(c, history.Invoke, models.Release)
	if l.random(100) < l.unknown/2 {
		say(c, history.Info, models.Release)
		retire(c)
		return
	}
	say(c, history.OK, models.Release)
}

func (l load) all() (events []models.Event) {
	l.run(func(e models.Event) { events = append(events, e) })
	return events
}

// guardedLoad is a fenced register that works: each client writes with a token
// of its own and reads; operations reach into each other.
func guardedLoad(n, clients int) (events []models.Event) {
	l := load{rng: 3}
	type pending struct {
		e    models.Event
		done bool
		lost bool
	}
	ps := make([]*pending, clients)
	value, top, made := "", int64(0), 0
	for made < n {
		c := l.random(clients)
		p := ps[c]
		say := func(e models.Event) {
			e.Line, e.Time = len(events)+1, int64(len(events)+1)
			events = append(events, e)
		}
		switch {
		case p == nil:
			made++
			e := models.Event{Process: c, Type: history.Invoke, F: []models.F{models.Read, models.Write}[l.random(2)]}
			if e.F == models.Write {
				e.Value, e.Token = fmt.Sprint(made), int64(made/10+1)
			}
			say(e)
			ps[c] = &pending{e: e}
		case !p.done:
			p.done = true
			if p.e.F == models.Read {
				p.e.Value = value
			} else if p.lost = p.e.Token < top; !p.lost {
				value, top = p.e.Value, p.e.Token
			}
		default:
			p.e.Type = history.OK
			if p.lost {
				p.e.Type = history.Fail
			}
			say(p.e)
			ps[c] = nil
		}
	}
	return events
}
