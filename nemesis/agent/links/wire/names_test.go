package wire

import (
	"slices"
	"testing"
)

// Every message of the streams has a name that can be waited for.
func TestNamesOfStreams(t *testing.T) {
	for _, s := range streams {
		messages, err := parser(t, s.protocol, s.request).Feed([]byte(s.bytes))
		if err != nil {
			t.Fatal(s.name, err)
		}
		for _, m := range messages {
			if !s.protocol.Names(m.Name, s.request) {
				t.Errorf("%s: a message is called %q, which is no name", s.name, m.Name)
			}
		}
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct {
		protocol Protocol
		name     string
		request  bool
		want     bool
	}{
		{Redis, "eval", true, true}, {Redis, "EVALL", true, false}, {Redis, "JSON.SET", true, true}, {Redis, "EVAL", false, false},
		{Redis, "+OK", false, true}, {Redis, "+OK", true, false}, {Redis, "$5", false, true}, {Redis, "+OK yes", false, false},
		{ZooKeeper, "create", true, true}, {ZooKeeper, "CREATE", true, true}, {ZooKeeper, "create", false, false}, {ZooKeeper, "reply", false, true},
		{ZooKeeper, "opcode77", true, true}, {ZooKeeper, "opcode", true, false},
		{Postgres, "Query", true, true}, {Postgres, "Query", false, false}, {Postgres, "ReadyForQuery", false, true}, {Postgres, "?", true, true},
		{HTTP2, "HEADERS", true, true}, {HTTP2, "HEADER", true, false}, {HTTP2, "PREFACE", false, false}, {HTTP2, "frame77", false, true},
		{None, "EVAL", true, false}, {None, "", true, false},
	} {
		if got := c.protocol.Names(c.name, c.request); got != c.want {
			t.Errorf("%s, %q, request %v: %v", c.protocol, c.name, c.request, got)
		}
	}
}

// No word stands twice, and each is a name.
func TestWords(t *testing.T) {
	for _, p := range Protocols {
		for _, request := range []bool{true, false} {
			words := slices.Clone(Words(p, request))
			slices.Sort(words)
			if len(words) == 0 || len(slices.Compact(slices.Clone(words))) != len(words) {
				t.Errorf("%s: %v", p, words)
			}
		}
	}
	if Words(None, true) != nil {
		t.Error("what is not understood has names")
	}
}
