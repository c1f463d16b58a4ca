package runner

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/reports"
	"github.com/dlmtest/dlmtest/scenarios"
)

// Planner is a Progress that is told the random schedule as data. Others get a line
// for each fault.
type Planner interface {
	Schedule(faults []reports.Planned)
}

// write plans the written faults. Those that are optional are told as those are that
// are drawn: once they were.
func (p *plan) write() {
	id := 1
	for _, f := range p.Scenario.Faults {
		fault := p.fault(f)
		if f.Optional {
			fault.Refused = p.cannot(f)
			p.drawn = append(p.drawn, toldOf(id, fault))
		}
		p.faults = append(p.faults, fault)
		id += max(f.Count, 1)
	}
}

// draw draws the random schedule and numbers it after the written faults, as the
// nemesis does.
func (p *plan) draw() error {
	r := p.Scenario.Random
	m := nemesis.Mix{Every: r.Every.Of(p.lease), For: r.For.Of(p.lease)}
	for _, f := range r.Mix {
		if err := p.named(f); err != nil {
			return err
		}
		fault := p.fault(f)
		fault.Refused = p.cannot(f)
		m.Items = append(m.Items, nemesis.Item{Weight: f.Weight, Fault: fault})
	}
	id := 1
	for _, f := range p.faults {
		id += max(f.Count, 1)
	}
	for _, f := range nemesis.Draw(p.Seed, m) {
		p.faults = append(p.faults, f)
		p.drawn = append(p.drawn, toldOf(id, f))
		id += max(f.Count, 1)
	}
	return nil
}

func toldOf(id int, f nemesis.Fault) reports.Planned {
	return reports.Planned{ID: id, At: f.At, Fault: f.Kind, Target: f.Target, On: f.On, Min: f.Min, Max: f.Max, Count: f.Count, Note: f.Refused}
}

// asDrawn is the scenario with its random schedule written out as it was drawn, so
// that it comes again whatever is drawn from the seed elsewhere. Each fault keeps the
// stream of the seed that it chooses with.
func (p *plan) asDrawn() scenarios.Scenario {
	s := p.Scenario
	if len(p.faults) == len(s.Faults) {
		return s // nothing was drawn
	}
	s.Faults, s.Random = slices.Clone(s.Faults), scenarios.Random{}
	id := 1
	for i, f := range p.faults {
		if i >= len(p.Scenario.Faults) {
			w := p.Scenario.Random.Mix[f.Item]
			w.At, w.On, w.Weight, w.Optional, w.Stream = fixed(f.At), cmp.Or(w.On, "at"), 0, true, id
			if f.Until == "" {
				w.For = scenarios.Span{Min: fixed(f.Min), Max: fixed(f.Max)}
			}
			s.Faults = append(s.Faults, w)
		}
		id += max(f.Count, 1)
	}
	return s
}

func fixed(d time.Duration) scenarios.Duration { return scenarios.Duration{Fixed: d} }

// tellSchedule shows what was drawn, before it begins.
func (s *stage) tellSchedule(say Progress) {
	if len(s.drawn) == 0 {
		return
	}
	if p, ok := say.(Planner); ok {
		p.Schedule(s.drawn)
		return
	}
	say.Line(fmt.Sprintf("%d random faults by the seed %d: at, number, fault", len(s.drawn), s.Seed))
	for _, f := range s.drawn {
		say.Line(f.String())
	}
}

// furthest is how far a load is, and never falls: a load is prolonged when its
// faults heal late.
type furthest float64

// at is the share of a load that is over; less than all until its faults are healed.
func (f *furthest) at(gone, whole time.Duration, healed bool) float64 {
	done := min(1, float64(gone)/float64(whole))
	if !healed {
		done = min(done, 0.99)
	}
	*f = max(*f, furthest(done))
	return float64(*f)
}
