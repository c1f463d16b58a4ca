package faultcheck

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/runner/faultcheck/outside"
)

// onLinks are the faults of links in the order in which the run "links" has them, each after the one before it, and by
// what each is measured: what becomes of each message that goes through the client's link, by the stamps of its sender
// and of the server, which one kernel gives.
var onLinks = []struct {
	kind, says string // as scenarios say it
	measure    func(*seen, *strike) Row
}{
	{"latency", "latency: 60ms, jitter: 20ms, at: 500ms, for: 600ms", (*seen).latency},
	{"bandwidth", "rate: 65536, at: 300ms, for: 1200ms", (*seen).bandwidth},
	{"reset", "at: 600ms, for: 400ms", (*seen).reset},
	{"blackhole", "at: 300ms, for: 400ms", (*seen).blackhole},
	{"hold-request", "at: 1200ms, for: 500ms", (*seen).hold},
	{"hold-answer", "at: 400ms, for: 500ms", (*seen).hold},
	{"cut-link", "when: {name: PING, after: true}, at: 400ms, for: 300ms", (*seen).reset},
}

// faultsOfLinks are the lines of them in the scenario.
func faultsOfLinks() (lines string) {
	after := ""
	for _, f := range onLinks {
		lines += fmt.Sprintf("  - {name: %s, fault: %s, target: client-1, %s%s}\n", f.kind, f.kind, after, f.says)
		after = "after: " + f.kind + ", "
	}
	return lines
}

func (s *seen) link(k *strike) Row {
	for _, f := range onLinks {
		if f.kind == k.fault.Fault {
			return f.measure(s, k)
		}
	}
	c := k.check("the fault is measured", k.proof)
	c.unless(false, "nothing measures it")
	return c.Row
}

// sentIn are the messages that were sent during a fault.
func (s *seen) sentIn(k *strike) (in []outside.Record) {
	from, to := k.window()
	return slices.DeleteFunc(s.of(k.target, outside.Trip), func(r outside.Record) bool { return r.From < from || r.From > to })
}

// latency: each message that went and came back within the fault has met half of it each way.
func (s *seen) latency(k *strike) Row {
	from, to := k.window()
	c := k.check("each way takes at least half of it, and the round trip is as said", k.proof)
	var way, trip []int64
	low := int64(k.fault.Latency.Of(0)-k.fault.Jitter.Of(0)) / 2
	for _, r := range s.of(k.target, outside.Trip) {
		if r.From < from || r.At > to {
			continue
		}
		way, trip = append(way, r.M-r.From, r.At-r.M), append(trip, r.At-r.From)
		c.unless(r.M-r.From >= low && r.At-r.M >= low, "message %d went in %s and came in %s", r.N, ms(r.M-r.From), ms(r.At-r.M))
	}
	c.unless(len(trip) > 0, "no message went and came")
	c.measured("%d messages, each way %s, round trip %s", len(trip), spread(way, ms), spread(trip, ms))
	return c.Row
}

// bandwidth: so many bytes take so long, on each connection.
func (s *seen) bandwidth(k *strike) Row {
	from, to := k.window()
	c := k.check("16 KiB take at least as long as the rate says", k.proof)
	var rates []int64
	for _, r := range s.of(k.target, outside.Bulk) {
		if r.From < from || r.At > to {
			continue
		}
		rate := r.N * int64(time.Second) / (r.At - r.From)
		rates = append(rates, rate)
		c.unless(rate <= int64(k.fault.Rate)*5/4, "%d bytes/s went through", rate) // a quarter may wait in buffers
	}
	c.unless(len(rates) > 0, "no bulk went through")
	c.measured("%s bytes/s", spread(rates, func(n int64) string { return fmt.Sprint(n) }))
	return c.Row
}

// reset: the connection breaks, and a later one works; of a reset, none lives before the heal. An answer that had come to
// the client before may be read when its connection has broken, so what counts is when a message was at the server.
func (s *seen) reset(k *strike) Row {
	from, to := k.window()
	c := k.check("connections break, and work again after the heal", k.proof)
	broken := between(s.of(k.target, outside.Broken), k.begun, to)
	answered := slices.DeleteFunc(s.of(k.target, outside.Trip), func(r outside.Record) bool { return r.M < from || r.M > to })
	c.unless(len(broken) > 0, "none broke")
	if k.fault.Fault == "reset" {
		c.unless(len(answered) == 0, "%d messages were answered meanwhile", len(answered))
	} else {
		c.What = "the connection of the message breaks once, and the next one works at once"
		c.unless(len(broken) < 2, "%d broke", len(broken))
		c.unless(len(answered) > 0 || first(s.of(k.target, outside.Trip), to) != nil, "nothing was answered any more")
	}
	c.unless(first(s.of(k.target, outside.Trip), to) != nil, "nothing is answered after the heal")
	var how []string
	for _, r := range broken {
		for _, word := range []string{"connection reset by peer", "EOF", "broken pipe", "i/o timeout"} {
			if strings.Contains(r.Text, word) && !slices.Contains(how, word) {
				how = append(how, word)
			}
		}
	}
	c.measured("%d broken (%s), %d answers meanwhile", len(broken), strings.Join(how, ", "), len(answered))
	return c.Row
}

// blackhole: what is sent gets no answer, and no error either.
func (s *seen) blackhole(k *strike) Row {
	from, to := k.window()
	in := s.sentIn(k)
	c := k.check("what is sent is never answered, and no connection breaks meanwhile", k.proof)
	sent := between(s.of(k.target, outside.Sent), from, to)
	c.unless(len(sent) > 0, "nothing was sent")
	c.unless(len(in) == 0, "%d of %d were answered", len(in), len(sent))
	broken := between(s.of(k.target, outside.Broken), from, to)
	c.unless(len(broken) == 0, "%d connections broke", len(broken))
	c.measured("%d sent, %d answered, %d broken", len(sent), len(in), len(broken))
	return c.Row
}

// hold: what is sent reaches the server, or its answer the client, at the heal and not before; nothing is lost.
func (s *seen) hold(k *strike) Row {
	from, to := k.window()
	in := s.sentIn(k)
	request := k.fault.Fault == "hold-request"
	what := "requests reach the server after the heal"
	if !request {
		what = "requests reach the server, and their answers come after the heal"
	}
	c := k.check(what+", in order, none lost", k.proof)
	sent := between(s.of(k.target, outside.Sent), from, to)
	early, arrived := 0, 0
	for _, r := range in {
		if r.M <= to {
			arrived++
		}
		if r.At <= to || request && r.M <= to {
			early++
		}
	}
	c.unless(len(sent) > 0, "nothing was sent")
	c.unless(early == 0, "%d came before the heal", early)
	c.unless(len(in) == len(sent), "%d were sent and %d answered", len(sent), len(in))
	c.unless(request || arrived > 0, "none reached the server meanwhile")
	c.measured("%d sent, %d reached the server meanwhile, %d answered before the heal, %d after", len(sent), arrived, early, len(in)-early)
	return c.Row
}
