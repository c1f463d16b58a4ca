package agent

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// realRedis starts a Redis under an agent, with clocks that can be bent, and returns
// the argv that asks it for its time.
func realRedis(t *testing.T, r *remote) []string {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Fatal("redis-server is not installed: ", err)
	}
	host, port := loopback.FreePort(t)
	tells := []string{"sh", "-c", fmt.Sprintf(`redis-cli -h %s -p %s TIME | awk 'NR==1 {s=$1} NR==2 {printf "%%d.%%06d", s, $1}'`, host, port)}
	child := &Child{Argv: []string{"redis-server", "--port", port, "--bind", host, "--dir", t.TempDir(), "--save", ""},
		Health: []string{"redis-cli", "-h", host, "-p", port, "-e", "PING"}, Bend: true, Tells: tells}
	for _, do := range []Do{Start, Check} {
		if m := r.do(Command{Do: do, Child: child}); m.Error != "" {
			t.Fatalf("%s: %s", do, m.Error)
		}
	}
	return tells
}

// redisTime is by how much the server's own time is off.
func redisTime(t *testing.T, tells []string) time.Duration {
	t.Helper()
	text, err := exec.Command(tells[0], tells[1:]...).Output()
	if err != nil {
		t.Fatal(err)
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Until(time.Unix(0, int64(seconds*1e9)))
}

// A database that is starting up does not tell its time; its clocks are bent for all that.
func TestClockOfASilentServer(t *testing.T) {
	for _, lie := range []bool{false, true} {
		r := startAgent(t)
		child := &Child{Argv: []string{"sleep", "60"}, Bend: true, Tells: []string{"false"}}
		if m := r.do(Command{Do: Start, Child: child}); m.Error != "" {
			t.Fatal(m.Error)
		}
		arm := Arm{Fault: 1, Kind: "clock", Max: time.Minute, Lie: lie, Params: Params{Skew: &vdso.Skew{Step: 30 * time.Second}}}
		if m := r.do(Command{Do: Inject, Arm: &arm}); m.Error != "" {
			t.Fatal(m.Error)
		}
		r.do(Command{Do: Heal, Fault: 1})
		want := map[bool]history.Phase{false: history.Observed, true: history.Missed}[lie]
		if proof := r.fault(1, want).Fault.Proof; !strings.Contains(proof, "cannot be read") || !strings.Contains(proof, "another program on its page") {
			t.Error(proof)
		}
	}
}

func TestStrobe(t *testing.T) {
	r := startAgent(t)
	tells := realRedis(t, r)
	const step = 30 * time.Second
	host := time.Now().Round(0) // the host's own REALTIME, against its MONOTONIC
	begun := time.Now()
	arm := Arm{Fault: 1, Kind: "clock", Max: time.Minute, Params: Params{Skew: &vdso.Skew{Step: step}, Strobe: 20 * time.Millisecond}}
	if m := r.do(Command{Do: Inject, Arm: &arm}); m.Error != "" {
		t.Fatal(m.Error)
	}
	sides := map[bool]int{}
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline) && (sides[true] < 3 || sides[false] < 3); {
		switch off := redisTime(t, tells); {
		case off > step-5*time.Second && off < step+time.Second:
			sides[true]++
		case off > -5*time.Second && off < time.Second:
			sides[false]++
		default:
			t.Fatalf("the server is off by %v", off)
		}
	}
	if sides[true] < 3 || sides[false] < 3 {
		t.Errorf("ahead %d times, right %d times", sides[true], sides[false])
	}
	if moved := time.Now().Round(0).Sub(host) - time.Since(begun); moved.Abs() > time.Second {
		t.Errorf("the host's clock moved by %v", moved)
	}
	r.do(Command{Do: Heal, Fault: 1})
	seen := r.fault(1, history.Observed)
	t.Log(seen.Fault.Proof)
	r.fault(1, history.Heal)
	for range 5 {
		if off := redisTime(t, tells); off.Abs() > 5*time.Second {
			t.Errorf("healed, the server is off by %v", off)
		}
	}
}

// A strobe that does nothing is not believed.
func TestStrobeThatLies(t *testing.T) {
	r := startAgent(t)
	realRedis(t, r)
	arm := Arm{Fault: 1, Kind: "clock", Lie: true, Max: time.Minute, Params: Params{Skew: &vdso.Skew{Step: time.Second}, Strobe: 20 * time.Millisecond}}
	r.do(Command{Do: Inject, Arm: &arm})
	r.do(Command{Do: Heal, Fault: 1})
	t.Log(r.fault(1, history.Missed).Fault.Proof)
}

// A program that cannot be asked is vouched for by another one on its page.
func TestClockOfWhoDoesNotTell(t *testing.T) {
	for _, lie := range []bool{false, true} {
		r := startAgent(t)
		if m := r.do(Command{Do: Start, Child: &Child{Argv: []string{"sleep", "60"}, Bend: true}}); m.Error != "" {
			t.Fatal(m.Error)
		}
		if m := r.do(Command{Do: Check}); m.Error != "" {
			t.Fatal(m.Error)
		}
		for id, params := range []Params{
			{Skew: &vdso.Skew{Step: time.Hour}},
			{Skew: &vdso.Skew{Step: -time.Hour}, Strobe: 10 * time.Millisecond},
		} {
			arm := Arm{Fault: id + 1, Kind: "clock", Lie: lie, Max: time.Minute, Params: params}
			if m := r.do(Command{Do: Inject, Arm: &arm}); m.Error != "" {
				t.Fatal(m.Error)
			}
			time.Sleep(50 * time.Millisecond) // some flips
			r.do(Command{Do: Heal, Fault: id + 1})
			want := history.Observed
			if lie {
				want = history.Missed
			}
			t.Log(r.fault(id+1, want).Fault.Proof)
		}
	}
}

// One that gives way is refused with nothing done, and at a checkpoint its client goes on.
func TestOptionalFaultGivesWay(t *testing.T) {
	r := startAgent(t)
	realRedis(t, r)
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "clock", Max: time.Minute, Params: Params{Skew: &vdso.Skew{Step: time.Second}}}})
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 2, Kind: "pause", Max: time.Minute, Optional: true}}); !m.Refused || !strings.Contains(m.Error, "fault 1") {
		t.Errorf("%+v", m)
	}
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 3, Kind: "clock", Max: time.Minute, Params: Params{Skew: &vdso.Skew{Step: time.Second}}}}); !m.Refused {
		t.Errorf("the same twice: %+v", m)
	}
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 4, Kind: "kill", Max: time.Minute}}); m.Error != "" {
		t.Errorf("who writes both knows what he does: %+v", m)
	}
}
