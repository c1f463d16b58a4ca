package faultcheck

import "github.com/dlmtest/dlmtest/runner/faultcheck/outside"

// judge holds what was measured of a run beside what its history says.
func (s *seen) judge() (rows []Row) {
	filled := false
	for _, k := range s.strikes {
		if !k.seen {
			c := k.check("the fault is observed by its own proof", k.proof)
			c.unmeasured("the run's own proof has missed it, so the run says that nothing is known")
			rows = append(rows, c.Row)
			continue
		}
		switch k.fault.Fault {
		case "pause":
			rows = append(rows, s.pause(k)...)
		case "stall-worker":
			rows = append(rows, s.stall(k)...)
		case "kill":
			if len(s.of(k.target, outside.Found)) > 0 {
				rows = append(rows, s.survives(k)...)
			} else {
				rows = append(rows, s.kill(k)...)
			}
		case "partition":
			rows = append(rows, s.partition(k)...)
		case "crash":
			rows = append(rows, s.crash(k)...)
			if !filled {
				rows, filled = append(rows, s.full(k)...), true
			}
		case "disk-stall":
			rows = append(rows, s.diskStall(k)...)
		case "clock":
			rows = append(rows, s.clock(k)...)
		default:
			rows = append(rows, s.link(k))
		}
	}
	return rows
}
