package local

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run is the first process of a run's namespaces. When the runner dies, by
// SIGKILL too, its control pipe ends; the run then kills every process it has,
// removes its folder and ends. The kernel would end the processes by itself, for
// this is the init of their process tree, but not the folder: so there is no
// parent-death signal here.
type run struct {
	Config
	folder string        // on the host's disk; removed at the end
	root   string        // the root folder that all nodes copy, in memory
	cache  string        // folder that keeps what initdb made
	lock   *os.File      // of folder
	stdio  [][3]*os.File // of each node
	mu     sync.Mutex    // reports
	report *json.Encoder
	nodes  sync.WaitGroup
}

func runInit() error {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE) // only the pipe ends it
	control, err := inherit(fdControl, "control")
	if err != nil {
		return err
	}
	report, err := inherit(fdReport, "report")
	if err != nil {
		return err
	}
	r := &run{report: json.NewEncoder(report)}
	if err := json.NewDecoder(control).Decode(&r.Config); err != nil {
		return fmt.Errorf("%s: no configuration: %w", Command, err)
	}
	if r.stdio, err = nodeFiles(len(r.Nodes)); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() { _, _ = io.Copy(io.Discard, control); close(ended) }()
	if err := r.prepare(); err != nil {
		r.tell(failed(-1, err))
	} else {
		r.start()
	}
	<-ended
	r.down()
	return nil
}

// prepare makes what the nodes share.
func (r *run) prepare() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mount table of its own: %w", err)
	}
	if err := r.makeFolder(); err != nil {
		return err
	}
	if err := buildRoot(r.root, r.Config); err != nil {
		return fmt.Errorf("root folder of the nodes: %w", err)
	}
	if err := makeBridge(r.Config); err != nil {
		return err
	}
	return r.makeDatabase()
}

// start starts all nodes at once and reports each.
func (r *run) start() {
	for i := range r.Nodes {
		r.nodes.Go(func() {
			cmd, err := r.startNode(i)
			if err != nil {
				r.tell(failed(i, err))
				return
			}
			r.tell(Report{Node: i, State: Up})
			_ = cmd.Wait() // its code says it all
			r.tell(Report{Node: i, State: Exited, Code: exitCode(cmd.ProcessState)})
		})
	}
}

// exitCode is the code as shells and Docker give it.
func exitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

func (r *run) tell(p Report) {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.report.Encode(p) // a runner that is gone needs no report
}

// down kills everything, again and again, for a node may be on its way up.
func (r *run) down() {
	gone := make(chan struct{})
	go func() { r.nodes.Wait(); close(gone) }()
	for waiting := true; waiting; {
		_ = unix.Kill(-1, unix.SIGKILL) // all of this process tree, and nobody else
		select {
		case <-gone:
			waiting = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	if r.folder == "" {
		return
	}
	_ = unix.Unmount(r.root, unix.MNT_DETACH)      // not mounted yet: as wanted
	if err := os.RemoveAll(r.folder); err != nil { // the next start sweeps
		fmt.Fprintln(os.Stderr, "removing the run's folder:", err)
	}
}
