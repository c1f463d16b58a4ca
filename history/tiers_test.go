package history

import (
	"fmt"
	"testing"
)

func TestTiers(t *testing.T) {
	for _, c := range []struct {
		servers []string
		want    string
	}{
		{nil, "[]"},
		{[]string{"n1", "n2", "n3"}, "[[n1 n2 n3]]"},
		{[]string{"redlock-1", "redlock-2"}, "[[redlock-1 redlock-2]]"},
		{[]string{"etcd-1", "lockservice-1", "etcd-2", "lockservice-2"}, "[[etcd-1 etcd-2] [lockservice-1 lockservice-2]]"},
		{[]string{"a-b", "c-", "d"}, "[[a-b c- d]]"},
	} {
		if got := fmt.Sprint(Tiers(c.servers)); got != c.want {
			t.Errorf("%v: %s, want %s", c.servers, got, c.want)
		}
	}
}
