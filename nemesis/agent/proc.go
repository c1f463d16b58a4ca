package agent

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// stat is what /proc/PID/stat or /proc/PID/task/TID/stat says of one thread.
type stat struct {
	state byte   // R, S, D, T, Z, …
	ppid  int    // parent
	group int    // process group
	home  int    // session
	ticks uint64 // user and system time used, in clock ticks

	switches uint64 // context switches; only threads fills it in
}

// readStat parses a stat file: the command in parentheses may hold anything, so
// the fields count from the last parenthesis (proc(5)).
func readStat(path string) (stat, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return stat{}, err
	}
	return parseStat(data)
}

func parseStat(data []byte) (stat, error) {
	end := bytes.LastIndexByte(data, ')')
	if end < 0 {
		return stat{}, fmt.Errorf("stat: no command in %q", data)
	}
	fields := bytes.Fields(data[end+1:])
	if len(fields) < 13 || len(fields[0]) != 1 {
		return stat{}, fmt.Errorf("stat: %d fields in %q", len(fields), data)
	}
	ppid, err1 := strconv.Atoi(string(fields[1]))
	group, err4 := strconv.Atoi(string(fields[2]))
	home, err5 := strconv.Atoi(string(fields[3]))
	user, err2 := strconv.ParseUint(string(fields[11]), 10, 64)
	system, err3 := strconv.ParseUint(string(fields[12]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || err5 != nil {
		return stat{}, fmt.Errorf("stat: not numbers in %q", data)
	}
	return stat{state: fields[0][0], ppid: ppid, group: group, home: home, ticks: user + system}, nil
}

// tree is one look at all processes.
type tree struct {
	children map[int][]int
	stats    map[int]stat // of those that live
}

func lookAtProcesses() tree {
	t := tree{map[int][]int{}, map[int]stat{}}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return t
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		s, err := readStat(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil || s.state == 'Z' || s.state == 'X' {
			continue
		}
		t.stats[pid] = s
		t.children[s.ppid] = append(t.children[s.ppid], pid)
	}
	return t
}

// below returns root, if it lives, and every living process below it.
func (t tree) below(root int) []int {
	var found []int
	if _, alive := t.stats[root]; alive {
		found = append(found, root)
	}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		found = append(found, t.children[queue[0]]...)
		queue = append(queue, t.children[queue[0]]...)
	}
	return found
}

// threads returns the stat of every thread of pid.
func threads(pid int) ([]stat, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var all []stat
	for _, e := range entries {
		s, err := readStat(filepath.Join(dir, e.Name(), "stat"))
		if err != nil {
			continue // it ended between the two reads
		}
		s.switches = left(filepath.Join(dir, e.Name(), "status"))
		all = append(all, s)
	}
	return all, nil
}

// left is how often a thread has left a CPU, of itself or not; 0 if it has ended.
func left(path string) (sum uint64) {
	data, _ := os.ReadFile(path)
	for line := range bytes.Lines(data) {
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.HasSuffix(name, []byte("voluntary_ctxt_switches")) { // nonvoluntary_ctxt_switches, too
			n, _ := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
			sum += n
		}
	}
	return sum
}
