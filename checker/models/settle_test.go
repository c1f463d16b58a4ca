package models

import "testing"

// TestSettle: what Porcupine alone decides is not called confirmed, also if the whole is
// asked for, as nothing else has judged it.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Verdict
	}{
		{"the release came late", "1 acquire o=a\n1 ok acquire o=a\n1 release o=a\n1 info release o=a\n3 release o=a\n3 ok release o=a\n2 acquire o=b\n2 ok acquire o=b", Holds},
		{"two hold", "1 acquire o=a\n1 ok acquire o=a\n1 release o=a\n1 info release o=a\n3 acquire o=a\n3 ok acquire o=a\n3 release o=a\n3 ok release o=a\n2 acquire o=b\n2 ok acquire o=b\n4 acquire o=c\n4 ok acquire o=c", Violated},
	} {
		m, _ := Named("mutex")
		r, err := decide(m, Options{}, script(c.text))
		if err != nil || r.Verdict == Violated && c.want == Holds {
			t.Fatalf("%s: %v %v", c.name, r, err)
		}
		r.Verdict = Unknown // two that hold are found by the sweep, too
		Settle(m, Options{}, script(c.text), inProcess, &r)
		Confirm(m, Options{}, script(c.text), inProcess, &r)
		if r.Verdict != c.want || r.Oracle != Decided {
			t.Errorf("%s: %s, Porcupine %s: %s", c.name, r.Verdict, r.Oracle, r.Reason)
		}
	}
}

// TestNobodys: an ok release or renewal for nobody knows whom may be for any of those who
// are named, so nothing is certain behind it, and Porcupine cannot know it either.
func TestNobodys(t *testing.T) {
	const grant, next = "1 acquire o=a\n1 ok acquire o=a t=3 l=90\n", "\n2 acquire o=b\n2 ok acquire o=b t=4 l=90"
	for _, model := range []string{"mutex", "reentrant", "semaphore", "try", "rwlock", "fenced-mutex", "lease", "lease-untimed", Claims} {
		for _, f := range []string{"release", "extend"} {
			m, _ := Named(model)
			if f == "extend" && model != "lease" && model != "lease-untimed" && model != Claims {
				continue
			}
			events := script(grant + "3 " + f + "\n3 ok " + f + next)
			for i := range events {
				events[i].Time, events[i].Lease = int64(i+1), 90
			}
			r, err := decide(m, Options{}, events)
			Settle(m, Options{}, events, inProcess, &r)
			if err != nil || r.Verdict != Unknown {
				t.Errorf("%s, %s: %s, %s, %v", model, f, r.Verdict, r.Reason, err)
			}
		}
	}
	m, _ := Named("mutex")
	if r, err := decide(m, Options{}, script("1 acquire\n1 ok acquire\n3 release\n3 ok release")); err != nil || r.Verdict != Violated {
		t.Errorf("where nobody is named its process is the owner: %v, %v", r, err)
	}
}

// TestUnnamedBesideNamed: an unnamed process that gives back its own grant is no riddle,
// neither to the sweep nor to Porcupine.
func TestUnnamedBesideNamed(t *testing.T) {
	const text = "1 acquire o=a\n1 ok acquire o=a\n1 release o=a\n1 ok release o=a\n3 acquire\n3 ok acquire\n3 release\n3 ok release\n2 acquire o=b\n2 ok acquire o=b\n4 acquire o=c\n4 ok acquire o=c"
	m, _ := Named("mutex")
	r, err := decide(m, Options{}, script(text))
	Confirm(m, Options{}, script(text), inProcess, &r)
	if err != nil || r.Verdict != Violated || r.Oracle != Confirmed {
		t.Errorf("%v: %s, Porcupine %s", err, r.Verdict, r.Oracle)
	}
}

// TestHolderGoesOnUnnamed: who holds a reentrant lock asks again, does not learn what came
// of it, goes on as another process and gives back, of which it learns nothing either.
func TestHolderGoesOnUnnamed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       Verdict
	}{
		{"its release may be the holder's", "1 acquire\n1 ok acquire o=a\n1 acquire\n1 info acquire\n6 release\n6 info release\n2 acquire\n2 ok acquire o=b", Holds},
		{"the acquire may be the holder's", "1 acquire\n1 info acquire\n6 acquire\n6 ok acquire o=a\n6 release\n6 ok release o=a\n6 release\n6 ok release o=a\n2 acquire\n2 ok acquire o=b", Holds},
		{"not of both", "1 acquire\n1 ok acquire o=a\n1 acquire\n1 info acquire\n6 release\n6 info release\n2 acquire\n2 ok acquire o=b\n3 acquire\n3 ok acquire o=c", Violated},
	} {
		m, _ := Named("reentrant")
		r, err := decide(m, Options{}, script(c.text))
		Settle(m, Options{}, script(c.text), inProcess, &r)
		if err != nil || r.Verdict != c.want {
			t.Errorf("%s: %s, %s, %v", c.name, r.Verdict, r.Reason, err)
		}
	}
}
