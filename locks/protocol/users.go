package protocol

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// way is how adapters are kept apart from this process, as its agent has said.
var way = sync.OnceValue(seal.Here)

// users are the ids of adapters that run at the same time in a container. Each has its own,
// so that one can neither touch another nor hide what it has started: no program without
// capabilities gets rid of its id.
var users pool

type pool struct {
	mu   sync.Mutex
	used []int
}

// take returns the first that is free, so that one adapter after the other finds what it
// has written.
func (p *pool) take() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	id := seal.AdapterID
	for n := 1; slices.Contains(p.used, id); n++ {
		id = seal.WorkerID + n
	}
	p.used = append(p.used, id)
	return id
}

func (p *pool) give(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used = slices.DeleteFunc(p.used, func(u int) bool { return u == id })
}

// owner is the user id of a process. The owner of its folder in /proc would be root where
// a program has asked not to be dumped.
func owner(pid int) int {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status") // it has ended
	for line := range strings.Lines(string(text)) {
		if ids, is := strings.CutPrefix(line, "Uid:"); is {
			id, _ := strconv.Atoi(strings.Fields(ids + " 0")[0]) // the kernel wrote it
			return id
		}
	}
	return 0
}
