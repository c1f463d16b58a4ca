package locks

import (
	"testing"

	"github.com/dlmtest/dlmtest/history"
)

// A lease that its session renews is watched over as one that its user renews is.
func TestOffersWatchdog(t *testing.T) {
	for _, c := range []struct {
		p    history.Promise
		want bool
	}{
		{history.Promise{Leased: true, Extends: true}, true}, {history.Promise{Leased: true, Renews: true}, true},
		{history.Promise{Leased: true}, false}, {history.Promise{Renews: true}, false},
	} {
		if got := Offers(c.p, history.Watchdog); got != c.want {
			t.Errorf("%+v: %v", c.p, got)
		}
	}
}
