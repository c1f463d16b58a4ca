package say

import "testing"

func TestError(t *testing.T) {
	for in, want := range map[string]string{
		"not granted: ERROR: canceling statement due to user request (SQLSTATE 57014) (context deadline exceeded)": "not granted in time",
		"not held: FATAL: terminating connection due to idle-in-transaction timeout (SQLSTATE 25P03)":              "not held: the server ended its session, which had been idle in a transaction for too long",
		"locks: redlock: no quorum: read tcp 10.0.0.1:1->10.0.0.2:2: i/o timeout\nread tcp":                        "no answer in time",
		"ERROR: deadlock detected (SQLSTATE 40P01)":                                                                "deadlock detected",
		"not held":        "not held",
		"session expired": "session expired",
	} {
		if got := Error(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
