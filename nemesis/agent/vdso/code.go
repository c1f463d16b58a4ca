package vdso

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
)

// machine is what depends on the processor.
type machine struct {
	stubs   []instruction
	symbols map[string]string // symbol of the vDSO → label of the stub that replaces it
	// attach is code that calls shmat(id, 0, SHM_RDONLY|SHM_EXEC) and then traps.
	attach func(id int) []byte
	// jump is code that goes to an address anywhere.
	jump func(to uint64) []byte
	// trapBack is how far before the end of that code the program counter then stands.
	trapBack uint64
}

// instruction is one machine instruction. text is what a disassembler says of it; the
// tests check that it does.
type instruction struct {
	label string
	text  string
	code  string // hex, in the order of memory
	to    string // the label, or "table" or "seq", that the operand is relative to
	fix   fixup  // how that distance is put into the code
}

// fixup puts a distance into an instruction at b[at:]. target and at count from
// the begin of the page.
type fixup func(b []byte, at, target int) error

// code is assembled stubs, and where in the page each label is.
type code struct {
	bytes  []byte
	labels map[string]int
}

// assemble puts the stubs together, to stand at codeAt of the page.
func (m *machine) assemble() (code, error) {
	c := code{labels: map[string]int{"table": tableAt, "seq": seqAt}}
	starts := make([]int, len(m.stubs))
	for i, in := range m.stubs {
		b, err := hex.DecodeString(strings.ReplaceAll(in.code, " ", ""))
		if err != nil {
			return code{}, fmt.Errorf("clock: stub %q: %w", in.text, err)
		}
		if starts[i] = codeAt + len(c.bytes); in.label != "" {
			c.labels[in.label] = starts[i]
		}
		c.bytes = append(c.bytes, b...)
	}
	if len(c.bytes) > pageSize-codeAt {
		return code{}, fmt.Errorf("clock: stubs of %d bytes do not fit the page", len(c.bytes))
	}
	for i, in := range m.stubs {
		if in.fix == nil {
			continue
		}
		end := codeAt + len(c.bytes)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		target, known := c.labels[in.to]
		if !known {
			return code{}, fmt.Errorf("clock: stub %q: no label %q", in.text, in.to)
		}
		if err := in.fix(c.bytes[starts[i]-codeAt:end-codeAt], starts[i], target); err != nil {
			return code{}, fmt.Errorf("clock: stub %q: %w", in.text, err)
		}
	}
	return c, nil
}

// le32 and le64 are v in the order of memory.
func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }
