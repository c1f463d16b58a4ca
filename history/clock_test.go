package history

import (
	"testing"
	"time"
)

// TestClosest reads clocks of a program that is preempted between its readings.
func TestClosest(t *testing.T) {
	const us, ms = int64(time.Microsecond), int64(time.Millisecond)
	for _, c := range []struct {
		name     string
		brackets []int64 // of each try
		tries    int
		late     int64 // own reading after the raw one, at most
	}{
		{"at once", []int64{us}, 1, us},
		{"preempted once", []int64{9 * ms, us}, 2, us},
		{"preempted twice", []int64{9 * ms, 3 * ms, 40 * us}, 3, 40 * us},
		{"no peace", []int64{9 * ms, 3 * ms, 60 * us, 5 * ms, 2 * ms}, 5, 60 * us},
	} {
		now, reads, tries := int64(0), 0, 0
		raw := func() int64 { return now }
		own := func() time.Time {
			if reads++; reads%2 == 1 {
				now += ms // what passes outside of the brackets does not matter
			} else {
				now += c.brackets[tries] // the preemption comes after the raw reading
				tries++
			}
			return time.Unix(0, now)
		}
		gotRaw, gotOwn := closest(raw, own)
		if late := gotOwn.UnixNano() - gotRaw; late != c.late || tries != c.tries {
			t.Errorf("%s: own reading %d ns after the raw one in %d tries, want %d in %d", c.name, late, tries, c.late, c.tries)
		}
	}
}

// TestNow holds the clocks of this program against each other: nobody bends them.
func TestNow(t *testing.T) {
	late := 0
	for range 1000 {
		before := Raw()
		s := Now()
		if s.Raw < before || s.Raw > Raw() {
			t.Fatalf("raw %d is not between the readings around it, from %d", s.Raw, before)
		}
		if s.Mono-s.Raw > int64(time.Millisecond) {
			late++
		}
	}
	if late > 1 {
		t.Errorf("%d of 1000 stamps have readings more than 1 ms apart", late)
	}
}

// A time that a program keeps beside its requests is put on the axis of Mono exactly.
func TestMonoAt(t *testing.T) {
	before, at, after := Mono(), time.Now(), Mono()
	if m := MonoAt(at); m < before || m > after {
		t.Errorf("%d is not between %d and %d", m, before, after)
	}
	if d := MonoAt(at.Add(time.Hour)) - MonoAt(at); d != int64(time.Hour) {
		t.Errorf("an hour later is %d ns later", d)
	}
}
