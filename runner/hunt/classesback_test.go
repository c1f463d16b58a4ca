package hunt

import "github.com/dlmtest/dlmtest/scenarios"

func init() {
	schedules = append(schedules, []schedule{
		{name: "few servers are away as clients open", backend: "redlock", has: func(t scenarios.Scenario) bool {
			return comesBackIn(t, func(f scenarios.Fault, n float64) bool { return among(f.Target, oneServer...) && n > 2 })
		}},
		{name: "most servers are out of reach of one client as it opens", backend: "redlock", has: func(t scenarios.Scenario) bool {
			return comesBackIn(t, func(f scenarios.Fault, n float64) bool {
				return f.Target == "client-1" && among("majority", f.From, f.To) && n > 1
			})
		}},
		{name: "a client comes back, and gives up within its old lease", backend: "redis", has: func(t scenarios.Scenario) bool {
			return contended(t) && of(t, t.Wait) < 0.7 && hit(t, func(f scenarios.Fault, n float64) bool {
				return f.Back && f.Target == "holder" && among(f.On, "acquired", "before-write", "writing", "releasing") && n < 0.5
			})
		}},
		{name: "a request of the old life arrives in the new one", backend: "redis", has: func(t scenarios.Scenario) bool {
			return comesBackIn(t, func(f scenarios.Fault, n float64) bool { return f.Fault == "hold-request" && f.To == "" && n > 0.5 })
		}},
	}...)
}

// comesBackIn says that a client comes back within a fault that is so.
func comesBackIn(t scenarios.Scenario, is func(f scenarios.Fault, n float64) bool) bool {
	return hit(t, func(back scenarios.Fault, n float64) bool {
		return back.Back && n < 0.5 && hit(t, func(f scenarios.Fault, n float64) bool { return f.Name == back.After.Fault && is(f, n) })
	})
}
