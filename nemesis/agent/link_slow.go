package agent

// slow is by how much a round trip takes longer under a latency, at most; 0: it is none.
// With it the judge knows whether who is slow was still in reach.
func (a Arm) slow() int64 {
	if a.Kind != "latency" || a.Link == nil {
		return 0
	}
	return int64(a.Link.RTT + a.Link.Jitter)
}
