package vdso

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// atSysinfoEhdr is the entry of the auxiliary vector that says where the vDSO is.
const atSysinfoEhdr = 33

// elfHeaderSize is the part of a vDSO that tells one from another.
const elfHeaderSize = 64

// image is the vDSO of this kernel. Every 64-bit process maps the same one, at an
// address of its own, so this process's serves to find the functions.
type image struct {
	header  []byte
	entries map[string]entry // by label of the stub
}

// entry is one function of the vDSO.
type entry struct{ at, size uint64 }

// ownImage is the vDSO as this process has it.
var ownImage = sync.OnceValues(func() (*image, error) {
	base, err := ownBase()
	if err != nil {
		return nil, err
	}
	f, err := os.Open("/proc/self/mem")
	if err != nil {
		return nil, fmt.Errorf("clock: read the vDSO: %w", err)
	}
	defer f.Close()
	const most = 16 * 4096 // vDSOs are of one or two pages
	b := make([]byte, most)
	n, _ := f.ReadAt(b, base) // short: it ends before
	return parseImage(b[:n], native)
})

func ownBase() (int64, error) {
	vector, err := unix.Auxv()
	if err != nil {
		return 0, fmt.Errorf("clock: auxiliary vector: %w", err)
	}
	for _, v := range vector {
		if v[0] == atSysinfoEhdr && v[1] != 0 {
			return int64(v[1]), nil
		}
	}
	return 0, errors.New("clock: this kernel gives programs no vDSO (booted with vdso=0?)")
}

// parseImage finds the functions that m replaces.
func parseImage(b []byte, m *machine) (*image, error) {
	f, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("clock: the vDSO: %w", err)
	}
	symbols, err := f.DynamicSymbols()
	if err != nil {
		return nil, fmt.Errorf("clock: the vDSO's symbols: %w", err)
	}
	im := &image{header: b[:elfHeaderSize], entries: map[string]entry{}}
	for _, s := range symbols {
		if label := m.symbols[s.Name]; label != "" {
			im.entries[label] = entry{s.Value, s.Size}
		}
	}
	for symbol, label := range m.symbols {
		if e := im.entries[label]; e.at == 0 || e.size < uint64(len(m.jump(0))) {
			return nil, fmt.Errorf("clock: the vDSO's %s (%d bytes) cannot be replaced", symbol, e.size)
		}
	}
	if e := im.entries["clock_gettime"]; e.size < uint64(len(m.attach(0))) {
		return nil, fmt.Errorf("clock: the vDSO's clock_gettime has %d bytes only", e.size)
	}
	return im, nil
}
