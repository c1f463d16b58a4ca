package checker

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dlmtest/dlmtest/history"
)

// The definitions of incidents and outages, asked of each instant.

var outageKinds = []string{"kill", "crash", "pause", "disk-stall", "clock", "partition", "partition", "partition", "latency", "cut-link"}

// faulted draws faults of three servers, two clients, and one more that waits for a
// key. Times are below 12, and some faults never begin or never end.
func faulted(t *rapid.T) *run {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(t, name) }
	nodes := []string{"c0", "c1", "x", "s0", "s1", "s2"}
	node := func(name string) string { return rapid.SampledFrom(nodes).Draw(t, name) }
	r := &run{setup: history.Setup{Clients: nodes[:2], Servers: nodes[3:]}, end: 12}
	if number("unknown servers", 9) == 0 {
		r.setup.Servers = nil
	}
	r.ops = []history.Op{{Node: "x"}, {Node: "c0"}, {Node: "x"}}
	r.keys = []*keyLog{{waits: []wait{{invoke: 0}, {invoke: 1}, {invoke: 2}}}}
	for i := range number("faults", 7) {
		f := &fault{id: int(number("id", 3)), kind: rapid.SampledFrom(outageKinds).Draw(t, "kind"), target: node("target"), from: number("from", 11), begin: int(i)}
		if number("begins", 4) == 0 {
			f.begin = -1
		}
		if f.to = f.from + number("length", 6); number("lasts", 6) == 0 {
			f.to = forever
		}
		if f.kind == "partition" {
			for range number("cut", 3) {
				f.cut = append(f.cut, node("peer"))
			}
		}
		r.faults = append(r.faults, f)
	}
	return r
}

// servedAt says whether a client reaches, at t, a server that stands in a majority of
// servers that the client reaches too, and whether its own program runs.
func (b brute) servedAt(node string, t int64) (served, runs bool) {
	servers := b.r.setup.Servers
	stopped := func(n string) bool {
		return slices.ContainsFunc(b.r.faults, func(f *fault) bool {
			server := slices.Contains(servers, n)
			stops := !slices.Contains([]string{"clock", "partition", "latency", "cut-link"}, f.kind) || server && (f.kind == "clock" || f.kind == "partition" && len(f.cut) == 0)
			return f.begin >= 0 && f.from <= t && t < f.to && f.target == n && stops
		})
	}
	parted := func(a, c string) bool {
		return slices.ContainsFunc(b.r.faults, func(f *fault) bool {
			return f.begin >= 0 && f.from <= t && t < f.to && (f.target == a && slices.Contains(f.cut, c) || f.target == c && slices.Contains(f.cut, a))
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
		rapid.Check(t, func(t *rapid.T) {
			r := faulted(t)
			b := brute{r}
			for _, node := range []string{"c0", "c1", "x"} {
				var want []span // in which nothing is owed
				for at := range int64(20) {
					served, runs := b.servedAt(node, at)
					if served && runs {
						continue
					}
					to := at + 1
					if at == 19 {
						to = forever
					}
					want = extend(want, at, to)
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

// incidents compares each fault with all that has its number.
func (b brute) incidents(t *rapid.T) {
	all := b.r.incidents()
	for i, first := range b.r.faults {
		same := func(f *fault) bool { return f.begin >= 0 && f.id == first.id }
		if first.begin < 0 || slices.ContainsFunc(b.r.faults[:i], same) {
			continue
		}
		want := incident{kind: first.kind, from: forever, begin: len(b.r.faults)}
		for _, f := range b.r.faults {
			if same(f) {
				want.from, want.to, want.begin = min(want.from, f.from), max(want.to, f.to), min(want.begin, f.begin)
				want.victims = append(want.victims, f.target)
			}
		}
		if len(all) == 0 || fmt.Sprint(*all[0]) != fmt.Sprint(want) {
			t.Fatalf("of fault %d: %+v, want %+v", first.id, all, want)
		}
		owed := false
		for at := want.from; at < max(min(want.to, b.r.end), want.from+1); at++ {
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
	if got := extend(extend(extend(nil, 1, 2), 2, 3), 4, 5); fmt.Sprint(got) != "[{1 3 0} {4 5 0}]" {
		t.Errorf("%v", got)
	}
}
