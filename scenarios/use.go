package scenarios

import (
	"fmt"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis"
)

// uses are the workloads that use a lock as people do.
var uses = nemesis.Words{
	"inventory":           "acquire, read how many are left, sell one, write what is left, release",
	"inventory-versioned": "the same without the lock: the write is refused if another came first (a version column)",
	"payment":             "acquire, read the last order, charge the next one, mark it as paid, release",
	"payment-key":         "the same, and each charge carries its order as idempotency key",
	"cron":                "acquire, read the last slot, run the next one that is due, mark it as run, release",
	"cron-key":            "the same, and each run claims its slot by its number",
	"file":                "acquire, write the next version of a file block by block, mark it as whole, release",
	"two-keys":            "acquire two keys, each second client in the opposite order, write both, release",
	"cache":               "read an entry; where it is old: acquire, look once more, rebuild it, release",
}

// Use holds the numbers of a well-known use.
type Use struct {
	// Stock of inventory: how many there are to sell of each key, from 1 to 1000000.
	Stock int `yaml:"stock,omitempty"`
	// Blocks of file: of how many blocks a version is made, from 2 to 1000.
	Blocks int `yaml:"blocks,omitempty"`
	// Every of cron is the time from one slot to the next; of cache the age at which an
	// entry is rebuilt.
	Every Duration `yaml:"every,omitempty"`
}

// UseOf is what the judge and the clients are told of the use.
func (s *Scenario) UseOf() history.Use {
	if uses[s.Workload] == "" {
		return history.Use{}
	}
	name, _, _ := strings.Cut(s.Workload, "-")
	if s.Workload == history.TwoKeys {
		name = history.TwoKeys
	}
	return history.Use{Name: name, Stock: s.Use.Stock, Blocks: s.Use.Blocks, Every: s.Use.Every.Of(s.Lease.Of(0)),
		Lockless: s.Workload == "inventory-versioned"}
}

// use checks that a use has its numbers, and no others.
func (v *validator) use(s *Scenario) {
	u := s.UseOf().Name
	v.duration("use.every", s.Use.Every)
	every := s.Use.Every.Of(s.Lease.Of(0))
	for _, n := range []struct {
		name, of         string
		got, low, high   int
		shown, low2, top string
	}{
		{"stock", history.Inventory, s.Use.Stock, 1, 1000000, fmt.Sprint(s.Use.Stock), "1", "1000000"},
		{"blocks", history.File, s.Use.Blocks, 2, 1000, fmt.Sprint(s.Use.Blocks), "2", "1000"},
		{"every", history.Cron + " " + history.Cache, int(every), int(time.Millisecond), int(time.Hour), s.Use.Every.String(), "1ms", "1h"},
	} {
		switch needed := u != "" && strings.Contains(n.of, u); {
		case needed && (n.got < n.low || n.got > n.high):
			v.problem("use."+n.name, "%s is not between %s and %s; the workload %s needs it", n.shown, n.low2, n.top, s.Workload)
		case !needed && n.got != 0:
			v.problem("use."+n.name, "the workload %s has no use for it", s.Workload)
		}
	}
	if u == history.TwoKeys && s.Keys < 2 {
		v.problem("keys", "%d is too few for two-keys; want at least 2", s.Keys)
	}
}
