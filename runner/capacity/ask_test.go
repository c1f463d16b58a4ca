package capacity

import (
	"strings"
	"testing"
)

// Where each lock is a connection, there is an end, and what is proposed instead fits.
func TestFits(t *testing.T) {
	pg := Asks["postgres"]
	for _, c := range []struct{ locks, sessions, proposedLocks, proposedSessions int }{
		{pg.Most, 10, 1000, 10}, {60, pg.Most, 60, 490}, {1_000_000, 1_000_000, 1000, 490},
	} {
		why := pg.Fits(c.locks, c.sessions)
		if why == "" || pg.Fits(c.proposedLocks, c.proposedSessions) != "" {
			t.Errorf("%d locks, %d sessions: %q", c.locks, c.sessions, why)
		}
		if !strings.Contains(why, "2000 at most") {
			t.Error(why)
		}
	}
	if why := pg.Fits(pg.Locks, pg.Sessions); why != "" || pg.Connections(1000, 480) != 1980 {
		t.Errorf("%s; %d", why, pg.Connections(1000, 480))
	}
	if why := Asks["redis"].Fits(1_000_000, 1_000_000); why != "" || Asks["redis"].Connections(9, 9) != 0 {
		t.Error(why)
	}
}
