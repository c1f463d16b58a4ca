package checker

import "testing"

// What a lock renews by itself can have been answered until its client was first cut off from the service for a lease, a quarter of a lease
// less at both ends, as a cut is told when it begins and its heal when it is done. Only a cut counts that was seen, and of this client.
func TestLastServed(t *testing.T) {
	all := []string{"server-1", "server-2", "server-3"}
	cut := func(from, to int64, node string, of ...string) func(*builder) {
		return func(b *builder) { b.fault(from, to, 1+len(b.ops), "partition", node, of...) }
	}
	for i, c := range []struct {
		faults func(*builder)
		at     int64 // -1: never
	}{
		{nothing, -1},
		{cut(sec, 9*sec, "client-1", all...), 1250 * ms},
		{cut(sec, 9*sec, "client-1", all[:2]...), 1250 * ms},
		{cut(sec, 9*sec, "client-1", all[:1]...), -1}, // the others serve it
		{cut(sec, 9*sec, "client-1", "client-2"), -1},
		{cut(sec, 9*sec, "client-2", all...), -1},
		{cut(sec, 9*sec, "client-1"), -1},
		{cut(0, 9*sec, "client-1", all...), 500 * ms}, // not before the time that is asked about
		{cut(sec, 2500*ms, "client-1", all...), -1},
		{cut(sec, 2500*ms+1, "client-1", all...), 1250 * ms},
		{cut(9*sec, 12*sec, "client-1", all...), -1}, // after that time
		{bothOf(cut(4*sec, 6*sec, "client-1", all...), cut(sec, 3*sec, "client-1", all...)), 1250 * ms},
		{bothOf(cut(sec, 3*sec, "client-1", all...), cut(4*sec, 6*sec, "client-1", all...)), 1250 * ms},
		{func(b *builder) { // nobody saw that it began, or it did not
			cut(sec, 9*sec, "client-1", all...)(b)
			b.ops = append(b.ops[:len(b.ops)-2], b.ops[len(b.ops)-1])
		}, -1},
		{func(b *builder) { b.fault(sec, 9*sec, 1, "pause", "client-1") }, -1},
	} {
		b := newBuilder()
		b.setup.Servers = all
		b.grantOf(0, 10*ms, "client-1", 1)
		c.faults(b)
		b.final(30 * sec)
		at, cut := newRun(b.done()).lastServed("client-1", origin+500*ms, origin+8*sec)
		if cut != (c.at >= 0) || cut && at != origin+c.at {
			t.Errorf("%d: %d ms, %v", i, (at-origin)/ms, cut)
		}
	}
}
