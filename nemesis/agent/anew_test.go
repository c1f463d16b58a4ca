package agent

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

// A worker is ended, and its records count for the run that is over; those of the next one count from none.
func TestAnewEndsAWorker(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", oneOp + oneOp + `read order; echo '{"end":{"ops":2}}'; sleep 60`}, Speaks: true}})
	if end := r.do(Command{Do: End}).End; end == nil || end.Ops != 2 {
		t.Fatalf("%+v", end)
	}
	if m := r.do(Command{Do: Anew}); m.Error != "" {
		t.Fatal(m.Error)
	}
	if m := r.do(Command{Do: Send, Line: []byte("1")}); m.Error == "" {
		t.Error("the worker of the last run takes a word")
	}
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", oneOp + `read order; echo '{"end":{"ops":1}}'`}, Speaks: true}})
	if end := r.do(Command{Do: End}).End; end == nil || end.Ops != 1 || end.Open {
		t.Errorf("of the next run: %+v", end)
	}
	if slices.ContainsFunc(r.seen, func(m Message) bool { return m.Exit != nil }) {
		t.Error("the end of a worker that was not needed any more is told as its own")
	}
}

// What is seen of a fault when its run is over is not told to the next one.
func TestLateWordsStayInTheirRun(t *testing.T) {
	var said bytes.Buffer
	a := &agent{name: "redis-1", out: newOut(&said), beats: &heart{}}
	s := &active{arm: Arm{Fault: 1, Kind: "partition"}}
	a.tellLate(s, history.Again, "of its own run")
	if err := a.clear(nil); err != nil {
		t.Fatal(err)
	}
	a.tellLate(s, history.Again, "of the run before")
	a.out.close()
	if text := said.String(); !strings.Contains(text, "of its own run") || strings.Contains(text, "of the run before") {
		t.Errorf("said %s", text)
	}
}

// A server goes on, under the limit of the next run.
func TestAnewKeepsAServer(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", "echo $$; sleep 60"}, Stall: time.Hour}})
	var pid string
	r.until(func(m Message) bool { pid = strings.TrimSpace(m.Log); return pid != "" })
	r.do(Command{Do: End})
	if m := r.do(Command{Do: Anew, Child: &Child{Stall: time.Nanosecond}}); m.Error != "" {
		t.Fatal(m.Error)
	}
	if _, err := os.Stat("/proc/" + pid); err != nil {
		t.Error(err)
	}
	time.Sleep(20 * leastBeat)
	if end := r.do(Command{Do: End}).End; end == nil || end.Ops == 0 {
		t.Errorf("no stall of a nanosecond was noted: %+v", end)
	}
}

// What a fault has left cannot be cleared away, and a server that has ended serves no other run.
func TestAnewIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		hold   bool
	}{"a fault in force": {"sleep 60", true}, "a server that has ended": {"exit 3", false}} {
		t.Run(name, func(t *testing.T) {
			r := startAgent(t)
			r.do(Command{Do: Start, Child: &Child{Argv: []string{"sh", "-c", c.script}}})
			if c.hold {
				r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "pause", Max: time.Minute}})
			} else {
				r.until(func(m Message) bool { return m.Exit != nil })
			}
			if m := r.do(Command{Do: Anew, Child: &Child{}}); m.Error == "" {
				t.Error("it is ready for another run")
			}
		})
	}
}
