package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"os/exec"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent/cut"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// What faults take of a node that it may lack.
const (
	NeedNft   = history.NeedNft
	NeedFuse  = history.NeedFuse
	NeedTrace = history.NeedTrace
)

// trials do what a fault does, before there is anybody to suffer it. What they make
// for that and Start needs too is kept. a.mu is held.
var trials = map[string]func(a *agent, spec *Child) error{
	NeedNft:   func(*agent, *Child) error { return tryCut() },
	NeedFuse:  (*agent).mountDisk,
	NeedTrace: (*agent).tryBend,
}

// try says why the faults that need what is named do not work on this node.
func (a *agent) try(need string, spec *Child) error {
	trial, ok := trials[need]
	if !ok || spec == nil {
		return fmt.Errorf("try: nothing is known of %q", need)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return trial(a, spec)
}

// tryCut cuts the node off from an address that RFC 5737 keeps for documentation.
func tryCut() error {
	heal, err := cut.Apply([]netip.Addr{netip.MustParseAddr("192.0.2.1")}, cut.Options{ID: "trial"})
	if err != nil {
		return err
	}
	return heal()
}

// tryBend starts a program that ends at once, with clocks that can be bent.
func (a *agent) tryBend(spec *Child) error {
	if err := a.makePage(); err != nil {
		return err
	}
	orders, err := sealing(*spec)
	if err != nil {
		return err
	}
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	var p *vdso.Process
	err = start(cmd, func() error {
		return orders.Start(cmd, func() (err error) { p, err = vdso.Start(cmd, a.page); return err })
	})
	defer disown(cmd)
	if p != nil {
		err = errors.Join(err, p.Wait(), p.Settle())
	}
	if err != nil {
		return err
	}
	if p.Execs() == 0 {
		return errors.New("the program's vDSO was not rewritten")
	}
	return nil
}

func (a *agent) makePage() error {
	if a.page != nil {
		return nil
	}
	page, err := vdso.NewPage()
	a.page = page
	return err
}

// mountDisk puts the lossy file system over the child's data folder, if the child is
// to have one.
func (a *agent) mountDisk(spec *Child) error {
	if spec.Data == "" || a.disk != nil {
		return nil
	}
	disk, err := startDisk(spec.Data, spec.Seed)
	if err != nil {
		return err
	}
	a.disk = disk
	return nil
}

// sync stands for the half minute or so after which a kernel has written everything
// back. What a server had written before the load began is not what a crash takes.
func (a *agent) sync() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.disk == nil {
		return nil
	}
	_, err := a.disk.do(lossy.Command{Do: lossy.SyncNow})
	return err
}

// stopped is an error when the node's program has ended, so that a fault of the
// program cannot be seen.
func (a *agent) stopped(kind string) error {
	s, err := readStat(fmt.Sprintf("/proc/%d/stat", a.child.cmd.Process.Pid))
	if err != nil || s.state == 'Z' || s.state == 'X' {
		return fmt.Errorf("%s: the node's program has ended: another fault has killed it, or it died by itself", kind)
	}
	return nil
}
