package scenarios_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/scenarios"
)

// linkFault is the good file with another fault: line 14 on, "on: acquired" in line 16.
func linkFault(kind, more string) string {
	return edit("fault: pause", "fault: "+kind, "    at: 0s\n    count: 1\n", "    count: 1\n"+more)
}

func TestLinkFault(t *testing.T) {
	s, err := scenarios.Parse("x.yaml", []byte(linkFault("cut-link", "    to: a-server\n    when: {direction: answer, name: +OK, contains: x, skip: 2, after: true}\n")))
	if err != nil {
		t.Fatal(err)
	}
	want := scenarios.When{Direction: "answer", Name: "+OK", Contains: "x", Skip: 2, After: true}
	if f := s.Faults[0]; f.To != "a-server" || f.When != want {
		t.Errorf("%+v", f)
	}
	roundTrip(t, s)
	s, err = scenarios.Parse("x.yaml", []byte(linkFault("latency", "    latency: 60ms\n    jitter: 0.01 lease\n")))
	if err != nil {
		t.Fatal(err)
	}
	if f := s.Faults[0]; f.Latency.Of(0) != 60*time.Millisecond || f.Jitter.Of(time.Second) != 10*time.Millisecond {
		t.Errorf("%+v", f)
	}
	roundTrip(t, s)
}

func TestMessageIsATrigger(t *testing.T) {
	file := strings.ReplaceAll(linkFault("hold-answer", "    when: {name: EVAL}\n"), "on: acquired", "on: at")
	if _, err := scenarios.Parse("x.yaml", []byte(file)); err != nil {
		t.Error(err)
	}
}

var badLinks = []struct{ file, want string }{
	{linkFault("pause", "    to: servers\n"), "line 18: faults[0].to: only faults of links have it: latency, bandwidth, reset, blackhole, hold-request, hold-answer, cut-link"},
	{linkFault("pause", "    when: {name: SET}\n"), "line 18: faults[0].when: only faults of links have it: latency, bandwidth, reset, blackhole, hold-request, hold-answer, cut-link"},
	{strings.ReplaceAll(linkFault("reset", ""), "target: holder", "target: a-server"), "line 15: faults[0].target: reset is a fault of a client's links; want holder, a-waiter, a-client, clients or a client such as client-1, and the server in to:"},
	{strings.ReplaceAll(linkFault("reset", ""), "target: holder", "target: redis-1"), "line 15: faults[0].target: reset is a fault of a client's links; want holder, a-waiter, a-client, clients or a client such as client-1, and the server in to:"},
	{linkFault("reset", "    to: holder\n"), `line 18: faults[0].to: unknown far end "holder"; there are a-follower, a-server, leader, majority, minority, resource, servers, or name a node such as redis-1`},
	{linkFault("reset", "    to: leadr\n"), `line 18: faults[0].to: unknown far end "leadr"; did you mean "leader"?, or name a node such as redis-1`},
	{linkFault("reset", "    latency: 5ms\n"), "line 18: faults[0].latency: only the fault latency has it"},
	{linkFault("reset", "    jitter: 5ms\n"), "line 18: faults[0].jitter: only the fault latency has it"},
	{linkFault("latency", "    latency: 5ms\n    jitter: 6ms\n"), "line 19: faults[0].jitter: 6ms is more than the latency of 5ms; want at most as much"},
	{linkFault("latency", ""), "line 14: faults[0].fault: latency: say how much, such as latency: 60ms"},
	{linkFault("bandwidth", ""), "line 14: faults[0].fault: bandwidth: say how many bytes a second, such as rate: 2000"},
	{linkFault("latency", "    latency: 5ms\n    rate: 7\n"), "line 19: faults[0].rate: only the fault bandwidth has it"},
	{linkFault("cut-link", ""), "line 14: faults[0].fault: cut-link: say on what message, such as when: {name: create, after: true}; reset cuts at once"},
	{linkFault("reset", "    when: {name: SET}\n"), "line 18: faults[0].when: reset does not wait for a message; only hold-request, hold-answer, cut-link do"},
	{strings.ReplaceAll(linkFault("hold-answer", "    when: {name: SET}\n"), "target: holder", "target: a-waiter"), "line 18: faults[0].when: who waits is known at the trigger only, when its messages may have passed; want the target holder with on: waiting"},
	{linkFault("hold-answer", "    when: {skip: 1}\n"), "line 18: faults[0].when: direction, skip and after need a name, contains or bytes"},
	{linkFault("hold-answer", "    when: {bytes: 7, name: SET}\n"), "line 18: faults[0].when.bytes: bytes go with neither name nor contains"},
	{linkFault("hold-answer", "    when: {bytes: -7}\n"), "line 18: faults[0].when: bytes and skip must not be below 0"},
	{linkFault("hold-answer", "    when: {name: SET, direction: back}\n"), `line 18: faults[0].when.direction: "back" is neither request nor answer`},
	{linkFault("hold-answer", "    when: {name: creat}\n"), `line 18: faults[0].when.name: no request of redis, zookeeper, postgres, http1, http2 is called "creat"; did you mean "create"?`},
	{linkFault("cut-link", "    when:\n      after: true\n      name: EVALL\n"), `line 20: faults[0].when.name: no request of redis, zookeeper, postgres, http1, http2 is called "EVALL"; did you mean "EVAL"?`},
	{linkFault("hold-answer", "    when: {name: frobnicate}\n"), `line 18: faults[0].when.name: no request of redis, zookeeper, postgres, http1, http2 is called "frobnicate"; if the servers have it, wait for its bytes, such as contains: frobnicate`},
	{linkFault("hold-answer", "    when: {name: create, direction: answer}\n"), `line 18: faults[0].when.name: no answer of redis, zookeeper, postgres, http1, http2 is called "create"; one in the other direction is, so say direction: request`},
	{linkFault("hold-request", "    when: {name: ReadyForQuery}\n"), `line 18: faults[0].when.name: no request of redis, zookeeper, postgres, http1, http2 is called "ReadyForQuery"; one in the other direction is, so say direction: answer`},
	{linkFault("hold-answer", "    when: {contians: SET}\n"), `line 18: unknown field "contians"; did you mean "contains"?`},
	{linkFault("bandwidth", "    rate: fast\n"), `line 18: faults[0].rate: "fast" is not a whole number`},
}

func TestBadLinks(t *testing.T) {
	for _, c := range badLinks {
		_, err := scenarios.Parse("bad.yaml", []byte(c.file))
		if err == nil {
			t.Errorf("no error, want %s", c.want)
		} else if err.Error() != "bad.yaml: "+c.want {
			t.Errorf("got  %s\nwant bad.yaml: %s", err, c.want)
		}
	}
}
