package vdso

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// ErrNotReadable says that a process belongs to another user, and that without
// CAP_SYS_PTRACE its memory cannot be looked at. Attached counts it all the same.
var ErrNotReadable = errors.New("clock: this process's memory is not readable without CAP_SYS_PTRACE")

// Patched reports whether the process reads its clocks by this page now: it has the
// page mapped, and each of the vDSO's functions goes there.
func (p *Page) Patched(pid int) (bool, error) {
	im, err := ownImage()
	if err != nil {
		return false, err
	}
	at, base, err := p.mapped(pid)
	if err != nil || at == 0 || base == 0 {
		return false, readable(err)
	}
	mem, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return false, readable(err)
	}
	defer mem.Close()
	for label, e := range im.entries {
		jump := native.jump(at + uint64(p.code.labels[label]))
		now := make([]byte, len(jump))
		if _, err := mem.ReadAt(now, int64(base+e.at)); err != nil {
			return false, readable(err)
		}
		if !bytes.Equal(now, jump) {
			return false, nil
		}
	}
	return true, nil
}

func readable(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return ErrNotReadable
	}
	return err
}

// mapped returns where a process has the page and the vDSO; 0: nowhere.
func (p *Page) mapped(pid int) (page, vdso uint64, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		field := strings.Fields(lines.Text()) // from-to rights offset device inode name
		if len(field) < 6 {
			continue
		}
		from, _, _ := strings.Cut(field[0], "-")
		at, err := strconv.ParseUint(from, 16, 64)
		switch {
		case err != nil:
			return 0, 0, fmt.Errorf("clock: maps of process %d: %w", pid, err)
		case field[5] == "[vdso]":
			vdso = at
		case strings.HasPrefix(field[5], "/SYSV") && field[4] == strconv.Itoa(p.id): // the inode is the number of the segment
			page = at
		}
	}
	return page, vdso, lines.Err()
}
