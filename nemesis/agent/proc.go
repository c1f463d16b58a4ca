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
	ticks uint64 // user and system time used, in clock ticks
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
	user, err2 := strconv.ParseUint(string(fields[11]), 10, 64)
	system, err3 := strconv.ParseUint(string(fields[12]), 10, 64)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
		return stat{}, fmt.Errorf("stat: not numbers in %q", data)
	}
	return stat{state: fields[0][0], ppid: ppid, group: group, ticks: user + system}, nil
}

// descendants returns root, every living process below it, and those of its
// process group whose parent has died. The group alone would not do: each
// PostgreSQL backend makes a session of its own.
func descendants(root int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]int{}
	alive := map[int]bool{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		s, err := readStat(filepath.Join("/proc", e.Name(), "stat"))
		if err != nil || s.state == 'Z' || s.state == 'X' {
			continue
		}
		alive[pid] = true
		if s.group == root && pid != root && s.ppid != root {
			s.ppid = root // an orphan, or a grandchild: found either way, once
		}
		children[s.ppid] = append(children[s.ppid], pid)
	}
	var found []int
	if alive[root] {
		found = append(found, root)
	}
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		found = append(found, children[queue[0]]...)
		queue = append(queue, children[queue[0]]...)
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
		all = append(all, s)
	}
	return all, nil
}
