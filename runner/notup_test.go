package runner

import (
	"errors"
	"testing"
)

// An adapter that takes more than its share while it is opened is named with what it took, not as one that was killed.
func TestNotUpSaysWhoWasGreedy(t *testing.T) {
	greedy, died := errors.New("client-1: the adapter's fault (greedy): it had 2049 sockets"), errors.New("client-1: the adapter's fault (died): signal: killed")
	for _, c := range []struct {
		blamed error
		want   string
	}{
		{greedy, "the cluster did not come up: " + greedy.Error() + "; " + died.Error()},
		{nil, "the cluster did not come up: " + died.Error()},
		{died, "the cluster did not come up: " + died.Error()},
	} {
		if got := notUp(c.blamed, died).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
