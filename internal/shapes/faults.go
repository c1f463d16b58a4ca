package shapes

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

func (m *maker) serverFaults() {
	for i := 0; !m.full(); i++ {
		node := m.client(i, 3)
		p := m.process()
		m.invoke(node, p, history.Acquire, "k", "")
		m.fault(i+1, []string{"pause", "kill", "crash"}[i%3], m.server(i), history.Begin)
		m.pass(1e7)
		m.fault(i+1, []string{"pause", "kill", "crash"}[i%3], m.server(i), history.Observed)
		h := m.granted(node, p, "k")
		m.fault(i+1, []string{"pause", "kill", "crash"}[i%3], m.server(i), history.Heal)
		if i%4 == 0 {
			m.pass(4e9)
		}
		m.release(h)
	}
}

func (m *maker) server(i int) string { return fmt.Sprintf("s%d", i%3+1) }

func (m *maker) clientFaults() {
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i, 3), m.process(), "k")
		m.broken(i+1, []string{"pause", "latency", "clock", "reset"}[i%4], h.node)
		m.extend(h, history.OK)
		if i%2 == 0 {
			m.release(h)
		}
	}
}

func (m *maker) kills() {
	for i := 0; !m.full(); i++ {
		node := m.client(i, 3)
		m.grant(node, m.process(), "k")
		p := m.process()
		m.invoke(m.client(i+1, 3), p, history.Acquire, "k", "")
		m.broken(i+1, "kill", node)
		m.pass(15e7)
		h := m.granted(m.client(i+1, 3), p, "k")
		m.release(h)
	}
}

// farApart are faults of all that fade before the next one comes, so that none of their times joins another's.
func (m *maker) farApart() {
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i, 3), m.process(), "k")
		m.broken(i+1, []string{"pause", "kill", "latency", "clock", "reset"}[i%5], []string{"c1", "s1", "c2", "s2"}[i%4])
		m.extend(h, history.OK)
		m.release(h)
		m.pass(2e9)
	}
}

func (m *maker) partitions() {
	for i := 0; !m.full(); i++ {
		server := m.server(i)
		m.fault(i+1, "partition", server, history.Begin, m.server(i+1), m.server(i+2), m.client(i, 3))
		h := m.grant(m.client(i, 3), m.process(), "k")
		m.fault(i+1, "partition", server, history.Observed)
		m.release(h)
		m.fault(i+1, "partition", server, history.Heal)
	}
}

func (m *maker) stalls() {
	for i := 0; !m.full(); i++ {
		m.note(m.client(i, 3), history.Stall).Length = 2e7
		m.pass(1e6)
		h := m.grant("c4", m.process(), "k")
		g := m.grant("c5", m.process(), "k")
		m.write(h)
		m.write(g)
		if i%3 == 0 {
			m.broken(i+1, "pause", m.client(i, 3))
		}
	}
	m.setup.Clients = append(m.setup.Clients, "c4", "c5")
	m.ops[len(m.ops)-1].Length = 0
	m.note("c1", history.Stall).Length = m.now - 1e9 // one as long as all
}

func (m *maker) losses() {
	for i := 0; !m.full(); i++ {
		h := m.grant(m.client(i, 3), m.process(), fmt.Sprintf("k%d", i%5))
		if i%3 == 0 {
			m.broken(i+1, []string{"pause", "kill", "latency", "clock"}[i/3%4], []string{"s1", "c2", "s2"}[i/3%3])
		}
		m.note(h.node, history.Lost).Owner = h.owner
		m.write(h)
	}
}

func (m *maker) lossesByProcess() {
	m.forget = true
	for i := 0; !m.full(); i++ {
		h := m.grant("c1", m.process(), fmt.Sprintf("k%d", i%50))
		m.note("c1", history.Lost).Process = h.process + 1000000
		if i%3 == 0 {
			m.note("c1", history.Suspended).Process = h.process
			m.note("c1", history.Lost).Process = h.process
		}
	}
}

// suspended is one session of few grants: each of them is told each time, so many of them
// would make a history of a different length.
func (m *maker) suspended() {
	m.forget = true
	for i := range 10 {
		m.grant("c1", m.process(), fmt.Sprintf("k%d", i))
	}
	for i := 0; !m.full(); i++ {
		m.note("c1", []history.F{history.Suspended, history.Resumed}[i%2])
	}
}

// selfRenewed are losses of sessions that renew by themselves, each long after a fault of a server.
func (m *maker) selfRenewed() {
	m.forget, m.setup.Promise.Renews, m.setup.Promise.DriftFactor = true, true, 0.01
	for i := 0; !m.full(); i++ {
		m.broken(i+1, "pause", m.server(i))
		m.pass(3e8)
		h := m.grant(m.client(i, 3), m.process(), "k")
		m.note(h.node, history.Lost).Owner = h.owner
	}
}
