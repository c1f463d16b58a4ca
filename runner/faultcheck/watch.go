package faultcheck

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sample is what /proc of this machine, outside of all nodes, said of a process at a moment.
type sample struct {
	at, before int64 // when the reading had ended and begun
	pid        string
	node       string
	threads    int
	stopped    int // of these, in state T
}

// watchEvery is how often the machine's /proc is read.
const watchEvery = 20 * time.Millisecond

// watch reads the states of all processes that carry the mark, until ctx ends. Where the nodes' processes are
// not this machine's, nothing is found.
func watch(ctx context.Context, mark string) (all []sample) {
	var marked []string
	for i := 0; ctx.Err() == nil; i++ {
		if i%10 == 0 {
			marked = find(mark)
		}
		for _, dir := range marked {
			if s, ok := look(dir); ok {
				all = append(all, s)
			}
		}
		time.Sleep(watchEvery)
	}
	return all
}

// find lists the folders in /proc of processes with the mark among their arguments.
func find(mark string) (dirs []string) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is well formed
	for _, path := range paths {
		if line, err := os.ReadFile(path); err == nil && bytes.Contains(line, []byte("\x00"+mark+"\x00")) && bytes.Contains(line, []byte("\x00outside\x00")) {
			dirs = append(dirs, filepath.Dir(path))
		}
	}
	return dirs
}

// look reads the states of all threads of a process, and in which node it is, by its UTS namespace.
func look(dir string) (sample, bool) {
	s := sample{before: now(), pid: filepath.Base(dir)}
	node, err := os.Readlink(dir + "/ns/uts")
	if err != nil {
		return s, false
	}
	s.node = node
	tasks, _ := filepath.Glob(dir + "/task/*/stat") // the pattern is well formed
	for _, path := range tasks {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		s.threads++
		if strings.HasPrefix(rest, "T") {
			s.stopped++
		}
	}
	s.at = now()
	return s, s.threads > 0
}

func now() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // cannot fail on Linux
	return t.Nano()
}

// watched holds the pause of a node beside the machine's own /proc. The node is the one of whose processes some
// stood: of a pause that nobody else suffers.
func (s *seen) watched(k *strike) Row {
	from, to := k.window()
	c := k.check("the machine's own /proc shows every thread in state T throughout", k.proof)
	node, looks := "", 0
	samples, ran := 0, 0
	pids, before, lived := map[string]bool{}, map[string]bool{}, map[string]bool{} // lived: seen before the pause and after it
	for _, m := range s.stood {
		if m.before < from || m.at > to {
			continue
		}
		if looks++; m.stopped > 0 {
			node = m.node
		}
	}
	for _, m := range s.stood {
		switch {
		case m.node == node && m.at <= from:
			before[m.pid] = true
		case m.node == node && m.before >= to && before[m.pid]:
			lived[m.pid] = true
		}
		if m.node != node || m.before < from || m.at > to {
			continue
		}
		samples++
		pids[m.pid] = true
		if m.stopped < m.threads {
			ran++
		}
	}
	switch {
	case len(s.stood) == 0:
		c.unmeasured("no process of the nodes is visible from here")
	case node == "" && looks > 0:
		c.unless(false, "no process of any node stood in %d looks", looks)
	case node == "":
		c.unmeasured("this machine was too busy to look")
	default:
		c.unless(ran == 0, "%d of %d looks saw a thread run", ran, samples)
		if len(pids) < len(lived) || len(pids) < 3 {
			c.unmeasured("this machine was too busy: %d of %d processes were looked at", len(pids), len(lived))
		}
	}
	c.measured("%d looks at %d processes, %d of them at one that ran", samples, len(pids), ran)
	return c.Row
}
