package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/history/trace"
)

// The definitions of incidents and outages, asked of each instant.

var outageKinds = []string{"kill", "crash", "pause", "disk-stall", "clock", "partition", "partition", "partition", "latency", "cut-link"}

// faulted draws faults of three servers, two clients, and one more that waits for a
// key. Times are below 12, and some faults never begin or never end.
func faulted(t *rapid.T) *run {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	nodes := []string{"c0", "c1", "x", "s0", "s1", "s2"}
	node := func(name string) string { return rapid.SampledFrom(nodes).Draw(t, name) }
	r := &run{Trace: &trace.Trace{Setup: history.Setup{Clients: nodes[:2], Servers: nodes[3:]}, End: 12}}
	if number("unknown servers", 9) == 0 {
		r.Setup.Servers = nil
	}
	r.Ops = []history.Op{{Node: "x"}, {Node: "c0"}, {Node: "x"}}
	r.keys = []*keyLog{{Key: &trace.Key{Waits: []trace.Wait{{Invoke: 0}, {Invoke: 1}, {Invoke: 2}}}}}
	for i := range number("faults", 7) {
		f := &trace.Fault{ID: int(number("id", 3)), Kind: rapid.SampledFrom(outageKinds).Draw(t, "kind"), Target: node("target"), From: number("from", 11), Begin: int(i)}
		if number("begins", 4) == 0 {
			f.Begin = -1
		}
		if f.To = f.From + number("length", 6); number("lasts", 6) == 0 {
			f.To = trace.Forever
		}
		if f.Kind == "partition" {
			for range number("cut", 3) {
				f.Cut = append(f.Cut, node("peer"))
			}
		}
		r.Faults = append(r.Faults, f)
	}
	return r
}

// servedAt says whether a client reaches, at t, a server that stands in a majority of
// servers that the client reaches too, and whether its own program runs.
func (b brute) servedAt(node string, t int64) (served, runs bool) {
	servers := b.r.Setup.Servers
	stopped := func(n string) bool {
		return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
			server := slices.Contains(servers, n)
			stops := !slices.Contains([]string{"clock", "partition", "latency", "cut-link"}, f.Kind) || server && (f.Kind == "clock" || f.Kind == "partition" && len(f.Cut) == 0)
			return f.Begin >= 0 && f.From <= t && t < f.To && f.Target == n && stops
		})
	}
	parted := func(a, c string) bool {
		return slices.ContainsFunc(b.r.Faults, func(f *trace.Fault) bool {
			return f.Begin >= 0 && f.From <= t && t < f.To && (f.Target == a && slices.Contains(f.Cut, c) || f.Target == c && slices.Contains(f.Cut, a))
		})
	}
	reach := slices.DeleteFunc(slices.Clone(servers), func(s string) bool { return stopped(s) || parted(node, s) })
	for _, s := range reach {
		beside := slices.DeleteFunc(slices.Clone(reach), func(o string) bool { return parted(s, o) })
		served = served || len(beside) >= 2
	}
	return served || len(servers) == 0, !stopped(node)
}

func TestOutagesAgree(t *testing.T) {
	seen := map[bool]int{}
	for range 20 {
		checkAnew(t, func(t *rapid.T) {
			r := faulted(t)
			b := brute{r}
			for _, node := range []string{"c0", "c1", "x"} {
				var want []trace.Span // in which nothing is owed
				for at := range int64(20) {
					served, runs := b.servedAt(node, at)
					if served && runs {
						continue
					}
					to := at + 1
					if at == 19 {
						to = trace.Forever
					}
					want = trace.Append(want, at, to)
				}
				if got := r.outages(node); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("%s: %v, want %v", node, got, want)
				}
				seen[len(want) > 0]++
			}
			if len(r.outages("s0")) > 0 {
				t.Fatal("a server waits for nothing")
			}
			b.incidents(t)
		})
	}
	if seen[true] < 100 || seen[false] < 100 {
		t.Errorf("one-sided: %v", seen)
	}
}

// shape is what an incident says of its faults.
func (in *incident) shape() []any { return []any{in.id, in.kind, in.victims, in.from, in.to, in.begin} }

// incidents compares each fault with all that has its number.
func (b brute) incidents(t *rapid.T) {
	all := b.r.incidents()
	for i, first := range b.r.Faults {
		same := func(f *trace.Fault) bool { return f.Begin >= 0 && f.ID == first.ID }
		if first.Begin < 0 || slices.ContainsFunc(b.r.Faults[:i], same) {
			continue
		}
		want := incident{id: first.ID, kind: first.Kind, from: trace.Forever, begin: len(b.r.Faults)}
		for _, f := range b.r.Faults {
			if same(f) {
				want.from, want.to, want.begin = min(want.from, f.From), max(want.to, f.To), min(want.begin, f.Begin)
				want.victims = append(want.victims, f.Target)
			}
		}
		if len(all) == 0 || fmt.Sprint(all[0].shape()) != fmt.Sprint(want.shape()) {
			t.Fatalf("of fault %d: %+v, want %+v", first.ID, all, want)
		}
		owed := false
		for at := want.from; at < max(min(want.to, b.r.End), want.from+1); at++ {
			for _, node := range []string{"c0", "c1", "x"} {
				served, _ := b.servedAt(node, at)
				owed = owed || served
			}
		}
		if b.r.minority(all[0]) != owed {
			t.Fatalf("in %+v, served: %v", want, owed)
		}
		all = all[1:]
	}
	if len(all) > 0 {
		t.Fatalf("too many: %+v", all)
	}
}

// Spans that touch are joined, the first two as well.
func TestExtend(t *testing.T) {
	if got := trace.Append(trace.Append(trace.Append(nil, 1, 2), 2, 3), 4, 5); fmt.Sprint(got) != "[{1 3 0} {4 5 0}]" {
		t.Errorf("%v", got)
	}
}
