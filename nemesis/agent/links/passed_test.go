package links

import (
	"testing"

	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// What has gone through a link can be told afterwards, by the names that faults can wait for.
func TestPassed(t *testing.T) {
	l := open(t, redis(t), wire.Redis)
	c := dial(t, l.Addr())
	c.does("PING", "+PONG")
	c.does("SET a 1", "+OK")
	c.does("SET b 1", "+OK")
	want := map[Passed]int{{Direction: Request, Name: "PING"}: 1, {Direction: Answer, Name: "+PONG"}: 1, {Direction: Request, Name: "SET"}: 2, {Direction: Answer, Name: "+OK"}: 2}
	got := l.Passed()
	for m, n := range want {
		if got[m] != n {
			t.Errorf("%+v: %d, want %d", m, got[m], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%+v", got)
	}
}
