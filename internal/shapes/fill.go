package shapes

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

func (m *maker) plain() {
	for i := 0; !m.full(); i++ {
		node := m.client(i, 3)
		next := m.client(i+1, 3)
		h := m.grant(node, 1000000+i%3, "k")
		m.invoke(next, 2000000+i, history.Acquire, "k", "")
		m.write(h)
		m.release(h)
		m.done(next, 2000000+i, history.Acquire, "k", "", history.Fail)
	}
}

func (m *maker) neverEnd() {
	m.forget = true
	for !m.full() {
		m.grant("c1", m.process(), "k")
	}
}

func (m *maker) clashes() {
	m.setup.Promise.Token = false
	var open []held
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i, 20), m.process(), "k")
		h.token = 0
		m.ops[len(m.ops)-1].Token = 0
		m.ops[len(m.ops)-1].Sent = m.ops[len(m.ops)-2].Time
		if open = append(open, h); len(open) > 50 {
			m.write(open[0])
			m.release(open[0])
			open = open[1:]
		}
	}
}

func (m *maker) manyKeys() {
	m.setup.Keys, m.setup.Promise.Changes = nil, true
	for i := 0; !m.full(); i++ {
		key := fmt.Sprintf("k%d", i)
		m.setup.Keys = append(m.setup.Keys, key)
		h := m.grant("c1", 1, key)
		m.write(h)
		if i%2 == 0 {
			m.release(h)
		}
	}
}

func (m *maker) unknowns() {
	for i := 0; !m.full(); i++ {
		p, node := m.process(), m.client(i, 3)
		m.invoke(node, p, history.Acquire, "k", "")
		m.done(node, p, history.Acquire, "k", fmt.Sprintf("u%d", i), history.Info)
		if i%7 == 0 {
			h := m.grant(node, m.process(), "k")
			m.extend(h, history.Info)
		}
		if i%50 == 0 {
			m.pass(5e9)
		}
	}
}

func (m *maker) ghosts() {
	for i := 0; !m.full(); i++ {
		p, node, owner := m.process(), m.client(i, 3), fmt.Sprintf("u%d", i)
		m.invoke(node, p, history.Acquire, "k", "")
		m.done(node, p, history.Acquire, "k", owner, history.Info)
		m.write(held{node: node, process: m.process(), key: "k", owner: owner})
		if i%5 == 0 {
			m.grant(node, m.process(), "k")
		}
	}
}

func (m *maker) pending() {
	for i := range m.n / 4 {
		m.invoke(m.client(i, 3), m.process(), history.Acquire, "k", "")
	}
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i, 3), m.process(), "k")
		m.release(h)
		m.pass(4e9)
		if i%10 == 0 {
			m.broken(i+1, "pause", "s1")
		}
	}
	for i := range 3 {
		m.note(m.client(i, 3), history.Stop)
	}
}

func (m *maker) look(owner string) {
	op := m.note("s1", history.Holder)
	op.Key, op.Owner, op.Sent = "k", owner, op.Time-500
}

func (m *maker) looks() {
	h := m.grant("c1", m.process(), "k")
	var late []held
	for range m.n / 12 {
		late = append(late, m.grant(m.client(len(late), 3), m.process(), "k"))
	}
	h = m.grant("c2", m.process(), "k")
	for i := range m.n / 3 {
		m.look(h.owner)
		if i < len(late) {
			m.release(late[i])
		}
	}
	for !m.full() {
		m.look(h.owner)
	}
	m.ops[len(m.ops)-1].Owner = ""
}

func (m *maker) renewedLooks() {
	h := m.grant("c1", m.process(), "k")
	for i := 0; !m.full(); i++ {
		m.extend(h, history.OK)
		m.look(h.owner)
		if i%9 == 0 {
			m.look("")
			m.write(h)
		}
	}
}

func (m *maker) renewals() {
	var others []held
	for i := range m.n / 16 {
		others = append(others, m.grant(m.client(i, 2), m.process(), "k"))
	}
	h := m.grant("c3", m.process(), "k")
	for i := 0; !m.full(); i++ {
		m.extend(h, history.OK)
		if i < len(others) {
			m.write(others[i])
			m.extend(others[i], history.OK)
		}
	}
}

func (m *maker) manyClients() {
	m.setup.Clients = nil
	for i := 0; !m.full(); i++ {
		node := fmt.Sprintf("c%d", i+1)
		m.setup.Clients = append(m.setup.Clients, node)
		m.invoke(fmt.Sprintf("c%d", i+2), 2000000+i, history.Acquire, "k", "")
		h := m.grant(node, m.process(), "k")
		m.write(h)
		if i%3 == 0 {
			m.broken(i+1, []string{"pause", "kill", "partition"}[i/3%3], []string{node, "s1"}[i/9%2])
			m.note("s1", history.Stall).Length = 2e7
		}
		m.done(fmt.Sprintf("c%d", i+2), 2000000+i, history.Acquire, "k", "", history.Fail)
		if i%2 == 0 {
			m.release(h)
		}
	}
	m.setup.Clients = append(m.setup.Clients, fmt.Sprintf("c%d", len(m.setup.Clients)+1))
}

func (m *maker) zombies() {
	before := m.grant("c1", m.process(), "k")
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i+1, 3), m.process(), "k")
		m.write(h)
		m.write(before)
		m.release(before)
		before = h
	}
}

func (m *maker) changes() {
	m.setup.Kind = history.ReadWrite
	h := m.grant("c1", m.process(), "k")
	g := m.grant("c2", m.process(), "k")
	for i := 0; !m.full(); i++ {
		mode := []history.Mode{history.Shared, history.Exclusive}[i%2]
		m.invoke(h.node, h.process, history.Change, "k", h.owner).Mode = mode
		op := m.done(h.node, h.process, history.Change, "k", h.owner, history.OK)
		op.Mode, op.Token, op.Sent = mode, h.token, op.Time-500
		m.claim(op)
		m.write(h)
		m.extend(g, history.OK)
	}
}

func (m *maker) readers() {
	m.setup.Kind = history.ReadWrite
	m.forget = true
	for i := 0; !m.full(); i++ {
		p := m.process()
		m.invoke(m.client(i, 3), p, history.Acquire, "k", "").Mode = history.Shared
		h := m.granted(m.client(i, 3), p, "k")
		m.ops[len(m.ops)-1].Mode = history.Shared
		for range 2 {
			m.invoke(h.node, h.process, history.Read, "k", h.owner)
			m.done(h.node, h.process, history.Read, "k", h.owner, history.OK).Unfenced = &history.Copy{Value: "v"}
		}
	}
}

func (m *maker) nested() {
	m.setup.Kind = history.Reentrant
	h := m.grant("c1", m.process(), "k")
	m.ops[len(m.ops)-1].Depth = 1
	for i := 0; !m.full(); i++ {
		m.invoke(h.node, h.process, history.Acquire, "k", "")
		op := m.done(h.node, h.process, history.Acquire, "k", h.owner, history.OK)
		op.Token, op.Sent, op.Depth = h.token, op.Time-500, 2
		m.claim(op)
		m.invoke(h.node, h.process, history.Release, "k", h.owner)
		m.done(h.node, h.process, history.Release, "k", h.owner, history.OK).Depth = 1
		if i%2 == 0 {
			m.broken(i+1, "pause", "s1")
		}
	}
}

func (m *maker) refusals() {
	m.setup.Kind = history.Tried
	h := m.grant("c1", m.process(), "k")
	for i := 0; !m.full(); i++ {
		m.invoke("c2", 5000000, history.Try, "k", "")
		m.done("c2", 5000000, history.Try, "k", "", history.Fail).Busy = true
		if i%5 == 0 {
			m.release(h)
			h = m.grant("c1", h.process, "k")
		}
	}
}

func (m *maker) effects() {
	m.setup.Use = history.Use{Name: history.Cache}
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i, 3), m.process(), "k")
		value := fmt.Sprintf("e%d", i)
		m.effect(h, value)
		if i%2 == 0 {
			m.note(h.node, history.Abstain).Owner = h.owner
			m.broken(i+1, "kill", h.node)
		} else {
			m.write(h)
			m.release(h)
		}
	}
}

func (m *maker) effect(h held, value string) {
	op := m.invoke(h.node, h.process, history.Effect, h.key, h.owner)
	op.Value, op.Token = value, h.token
	note := m.note("resource", history.Happened)
	note.Key, note.Owner, note.Value, note.Token = h.key, h.owner, value, h.token
	note.Unfenced, note.Fenced = &history.Copy{Value: "rebuild", Accepted: true}, &history.Copy{Value: "rebuild", Accepted: true}
	op = m.done(h.node, h.process, history.Effect, h.key, h.owner, history.OK)
	op.Value = value
}
