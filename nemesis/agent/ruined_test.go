package agent

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

func TestRuined(t *testing.T) {
	for program, ruined := range map[string]bool{
		"/usr/bin/python3": true, "python3.11": true, "/usr/lib/jvm/java-17-openjdk-amd64/bin/java": true, "pypy3": true,
		"dlmtest/client-java:latest": true, "dlmtest/client-python:latest": true,
		"/usr/bin/redis-server": false, "node": false, "javac-like": false, "./mylock": false, "dlmtest/client:latest": false, "": false,
	} {
		if got := Ruined(program); (got != "") != ruined {
			t.Errorf("%s: %q", program, got)
		}
	}
}

// A program that only its process tells of.
func TestDriftOfPythonIsRefused(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Bend: true, Argv: []string{"sh", "-c", `python3 -c 'import time; print("up", flush=True); time.sleep(100)'; :`}}})
	r.until(func(m Message) bool { return m.Log == "up" })
	m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "clock", Params: Params{Skew: &vdso.Skew{Drift: 0.05}}}})
	t.Logf("%+v", m)
	if !strings.Contains(m.Error, "Python") {
		r.fault(1, "missed")
	}
	r.do(Command{Do: Kill})
}
