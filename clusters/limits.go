package clusters

import (
	"github.com/dlmtest/dlmtest/clusters/engine"
)

// apply puts what the compose file allows a node into its container. What the file
// does not say stays as it is.
func (l Limits) apply(h *engine.HostConfig) {
	set(&h.Memory, l.Memory)
	set(&h.MemorySwap, l.MemorySwap)
	set(&h.MemoryReservation, l.Reservation)
	set(&h.ShmSize, l.Shm)
	set(&h.NanoCPUs, int64(l.CPUs*1e9))
	if l.Pids > 0 {
		h.PidsLimit = &l.Pids
	}
	for _, u := range l.Ulimits {
		h.Ulimits = append(h.Ulimits, &engine.Ulimit{Name: u.Name, Soft: u.Soft, Hard: u.Hard})
	}
	h.ReadonlyRootfs = h.ReadonlyRootfs || l.ReadOnly
}

func set(to *int64, value int64) {
	if value > 0 {
		*to = value
	}
}
