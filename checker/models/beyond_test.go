package models

import "testing"

// TestAgreesWhereSweepsEnd has histories of which a sweep can judge a part, or none: it
// agrees with Porcupine or says that it does not know, and leaves it to Porcupine; what it found
// is confirmed, and found again in its smallest history.
func TestAgreesWhereSweepsEnd(t *testing.T) {
	for _, c := range []struct {
		name, model, text string
		sweep, settled    Verdict
	}{
		{"a grant that no model fits, behind what only Porcupine judges", "fenced-mutex", "1 release o=a\n2 release o=b\n2 ok release o=b\n1 info release o=a\n3 acquire o=a\n3 ok acquire o=a", Violated, Violated},
		{"the answer tells the owner, who may give back at any time", "mutex", "1 release o=a\n1 info release o=a\n2 acquire\n2 ok acquire o=a\n3 acquire\n3 ok acquire o=b", Unknown, Holds},
		{"told again, for longer, after a grant without a token", "lease", "1 acquire at=1\n1 ok acquire at=1 l=1\n1 release at=1\n1 ok release at=1\n1 acquire at=1\n1 ok acquire at=1 t=2 l=1\n1 acquire at=1\n1 ok acquire at=1 t=2 l=9\n2 acquire at=5\n2 ok acquire at=5 t=3 l=1", Unknown, Holds},
		{"told again what a renewal told, for longer", "lease", "1 acquire at=1\n1 ok acquire at=1 l=1\n1 extend at=1\n1 ok extend at=1 t=2 l=1\n1 acquire at=1\n1 ok acquire at=1 t=2 l=9\n2 acquire at=5\n2 ok acquire at=5 t=3 l=1", Unknown, Holds},
		{"a grant without a token behind one that another's is above", "lease", "1 acquire at=1\n1 ok acquire at=1 t=1 l=5\n2 acquire at=10\n2 ok acquire at=10 t=2 l=5\n1 acquire at=20\n1 ok acquire at=20 l=5\n1 extend at=21\n1 ok extend at=21 l=5", Unknown, Holds},
		{"told again what a renewal told, untimed", "lease-untimed", "1 acquire\n1 ok acquire\n1 release\n1 ok release\n2 acquire\n2 ok acquire t=2\n1 acquire\n1 ok acquire\n1 extend\n1 ok extend t=2\n1 acquire\n1 ok acquire t=2", Unknown, Holds},
		{"renewals alone tell tokens, which fall", "lease-untimed", "1 acquire\n1 ok acquire\n1 extend\n1 ok extend t=15\n2 acquire\n2 ok acquire\n2 extend\n2 ok extend t=12", Unknown, Violated},
		{"renewals alone tell tokens, which fall, of claims", "claims", "1 acquire\n1 ok acquire\n1 extend\n1 ok extend t=15\n2 acquire\n2 ok acquire\n2 extend\n2 ok extend t=12", Unknown, Violated},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, _ := Named(c.model)
			events := script(c.text)
			r, err := decide(m, Options{}, events)
			if err != nil || r.Verdict != c.sweep {
				t.Errorf("the sweep says %s, want %s: %s, %v", r.Verdict, c.sweep, r.Reason, err)
			}
			Settle(m, Options{}, events, inProcess, &r)
			Confirm(m, Options{}, events, inProcess, &r)
			oracle := Confirmed
			if c.sweep == Unknown {
				oracle = Decided
			}
			if r.Verdict != c.settled || r.Oracle != oracle {
				t.Errorf("%s, want %s, and Porcupine %s it: %s", r.Verdict, c.settled, r.Oracle, r.Reason)
			}
			for _, v := range r.Violations {
				if left, _, err := NewMinimizer(t.Context(), nil, m, Options{}, events).Minimize(v); c.sweep == Violated && (err != nil || len(left) != 2) {
					t.Errorf("smallest history: %v, %v", left, err)
				}
			}
		})
	}
}
