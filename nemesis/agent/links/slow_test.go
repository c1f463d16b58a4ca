package links

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

func TestLatencyIsMeasured(t *testing.T) {
	l := open(t, redis(t), wire.Redis)
	before := measured(t, l.Addr(), wire.Redis)
	f := must(t)(l.Latency(60*time.Millisecond, 10*time.Millisecond))
	during := measured(t, l.Addr(), wire.Redis)
	proof := f.Proof()
	heal(t, f)
	after := measured(t, l.Addr(), wire.Redis)
	t.Logf("round trip %v, during %v, after %v; %s", before, during, after, proof)
	if during < 50*time.Millisecond || during > 90*time.Millisecond || after > 30*time.Millisecond {
		t.Errorf("round trip %v, during %v, after %v", before, during, after)
	}
	if proof.Pieces < 10 || proof.Delay < 25*time.Millisecond || !proof.Seen() {
		t.Errorf("proof %s", proof)
	}
}

// A heal sends at once what is delayed, in order and whole.
func TestHealWithDataInFlight(t *testing.T) {
	l := open(t, echo(t), wire.None)
	c := dial(t, l.Addr())
	want := numbers(200_000)
	f := must(t)(l.Latency(time.Hour, time.Minute))
	g := must(t)(l.Bandwidth(1000))
	go func() { _, _ = c.Write(want) }()
	time.Sleep(200 * time.Millisecond)
	heal(t, f)
	heal(t, g)
	got := make([]byte, len(want))
	_ = c.SetReadDeadline(time.Now().Add(eventually.Most))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v, or other bytes than were sent", err)
	}
}

// numbers is n bytes of which no part is like another.
func numbers(n int) []byte {
	b := make([]byte, 0, n+4)
	for i := 0; len(b) < n; i++ {
		b = append(b, byte(i>>24), byte(i>>16), byte(i>>8), byte(i))
	}
	return b[:n]
}

func TestBandwidth(t *testing.T) {
	l := open(t, echo(t), wire.None)
	c := dial(t, l.Addr())
	f := must(t)(l.Bandwidth(100_000))
	want := numbers(50_000)
	start := time.Now()
	go func() { _, _ = c.Write(want) }()
	got := make([]byte, len(want))
	_ = c.SetReadDeadline(time.Now().Add(eventually.Most))
	if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%v, or other bytes than were sent", err)
	}
	if d := time.Since(start); d < 450*time.Millisecond {
		t.Errorf("50 kB at 100 kB/s there and back took %v", d)
	}
	if p := f.Proof(); p.Bytes != 100_000 {
		t.Errorf("proof %s", p)
	}
	heal(t, f)
}

func TestJitterComesFromTheSeed(t *testing.T) {
	draw := func(seed uint64) (all []time.Duration) {
		l := &Link{name: "s", seed: seed}
		d := &delayToxic{newFlow(&conn{link: l, number: 1}, Request)}
		d.delays[&Fault{}] = spread{20, 10}
		for range 50 {
			x := d.draw()
			if x < 10 || x > 30 {
				t.Fatalf("drew %v", x)
			}
			all = append(all, x)
		}
		return all
	}
	same := func(a, b []time.Duration) bool {
		for i := range a {
			if a[i] != b[i] {
				return false
			}
		}
		return true
	}
	if !same(draw(1), draw(1)) || same(draw(1), draw(2)) {
		t.Error("the seed does not decide")
	}
}

func TestMeasure(t *testing.T) {
	addr := redis(t)
	if d := measured(t, addr, wire.Redis); d > time.Second {
		t.Errorf("round trip %v", d)
	}
	l := open(t, addr, wire.Redis)
	defer heal(t, must(t)(l.HoldAnswer(When{})))
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := Measure(ctx, l.Addr(), wire.Redis); err == nil {
		t.Error("an answer passed a hold")
	}
	if _, err := Measure(ctx, l.Addr(), wire.None); err == nil {
		t.Error("a ping was made up")
	}
}

func TestSlowLinksAreRefused(t *testing.T) {
	l := open(t, "127.0.0.1:1", wire.None)
	for name, inject := range map[string]func() (*Fault, error){
		"no latency":          func() (*Fault, error) { return l.Latency(0, 0) },
		"jitter over latency": func() (*Fault, error) { return l.Latency(1, 2) },
		"no bandwidth":        func() (*Fault, error) { return l.Bandwidth(0) },
	} {
		if _, err := inject(); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// The end of a connection waits its turn, also where no data goes before it.
func TestAnEndIsDelayed(t *testing.T) {
	ends := make(chan time.Time, 1)
	l := open(t, listener(t, func(c net.Conn) {
		_, _ = io.Copy(io.Discard, c)
		ends <- time.Now()
	}), wire.None)
	f := must(t)(l.Latency(400*time.Millisecond, 0))
	c := dial(t, l.Addr())
	closed := time.Now()
	_ = c.Close()
	if d := (<-ends).Sub(closed); d < 200*time.Millisecond {
		t.Errorf("the server saw the end after %v", d)
	}
	heal(t, f)
	c = dial(t, l.Addr())
	must := must(t)
	f = must(l.Latency(time.Hour, 0))
	_ = c.Close()
	heal(t, f) // then at once
	select {
	case <-ends:
	case <-time.After(eventually.Most):
		t.Error("the end did not come after the heal")
	}
}
