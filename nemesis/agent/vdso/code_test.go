package vdso

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"
)

// Each instruction's text, with labels as distances, is what a disassembler makes of
// the assembled bytes.
func TestStubsAreWhatTheySay(t *testing.T) {
	for name, m := range map[string]*machine{"x86": x86, "a64": a64} {
		t.Run(name, func(t *testing.T) {
			c, err := m.assemble()
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for _, in := range m.stubs {
				got, size := disassemble(t, m, c.bytes[at:])
				if want := in.resolved(c, m, codeAt+at, codeAt+at+size); got != want {
					t.Errorf("%q at %#x is %q", want, at, got)
				}
				at += size
			}
			if at != len(c.bytes) {
				t.Errorf("%d bytes of %d", at, len(c.bytes))
			}
		})
	}
}

// resolved is the text of the instruction at begin with its label as the disassembler
// writes it: on x86 a distance from end, on arm64 one from begin.
func (in instruction) resolved(c code, m *machine, begin, end int) string {
	if in.to == "" {
		return in.text
	}
	distance := c.labels[in.to] - end
	if m == a64 {
		distance = c.labels[in.to] - begin
	}
	if strings.Contains(in.text, "+"+in.to) { // an address, which x86asm writes unsigned
		return strings.Replace(in.text, in.to, fmt.Sprintf("%#x", uint32(distance)), 1)
	}
	if m == a64 { // arm64asm writes all of them unsigned
		return strings.Replace(in.text, in.to, fmt.Sprintf(".+%#x", uint64(distance)), 1)
	}
	return strings.Replace(in.text, in.to, fmt.Sprintf(".%+#x", distance), 1)
}

// usual names what the disassemblers call otherwise than the manuals.
var usual = strings.NewReplacer("jnbe", "ja", "b hi,", "b.hi", "b ne,", "b.ne", "ret x30", "ret", "yield ", "yield", "hint #0x22", "bti c")

func disassemble(t *testing.T, m *machine, b []byte) (string, int) {
	t.Helper()
	if m == a64 {
		in, err := arm64asm.Decode(b)
		if err != nil {
			return fmt.Sprintf("%v: %x", err, b[:4]), 4
		}
		return usual.Replace(strings.ToLower(in.String())), 4
	}
	in, err := x86asm.Decode(b, 64)
	if err != nil {
		t.Fatalf("%v: %x", err, b[:8])
	}
	return usual.Replace(x86asm.IntelSyntax(in, 0, nil)), in.Len
}

// The parts that hold a number of the moment.
func TestAttachAndJump(t *testing.T) {
	const id, to = 0x7ffe1234, 0x7f12_3456_789a
	for _, test := range []struct {
		m    *machine
		code []byte
		want string
	}{
		{x86, x86.attach(id), "mov eax, 0x1e; mov edi, 0x7ffe1234; xor esi, esi; mov edx, 0x9000; syscall; int3"},
		{x86, x86.jump(to), "mov rax, 0x7f123456789a; jmp rax"},
		{a64, a64.attach(id), "mov w0, #0x1234; movk w0, #0x7ffe, lsl #16; mov x1, #0x0; mov w2, #0x9000; mov w8, #0xc4; svc #0x0; brk #0x0"},
		{a64, a64.jump(to)[:12], "bti c; ldr x16, .+0x8; br x16"},
	} {
		var all []string
		for b := test.code; len(b) > 0; {
			text, n := disassemble(t, test.m, b)
			all, b = append(all, text), b[n:]
		}
		if got := strings.Join(all, "; "); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// The stubs of arm64 run here under user-mode qemu, when that is installed, in a program
// made by hand: the page with its table, and a start that calls each stub and writes
// what it read. Rewriting a vDSO there needs ptrace, which qemu does not offer: not run.
func TestStubsOfArm64(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		t.Skip("no qemu-aarch64-static (apt-get install qemu-user-static): the arm64 stubs were disassembled and not run")
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		now := read(1)
		l := Line{
			Base: now - random.Int64N(1e15), Offset: random.Int64N(1e15),
			Drift: random.Int64N(1<<32) - 1<<31, Slew: random.Int64N(1<<32) - 1<<31, Span: random.Int64N(1e15),
		}
		file := filepath.Join(t.TempDir(), "stubs")
		if err := os.WriteFile(file, armProgram(t, l), 0o755); err != nil {
			t.Fatal(err)
		}
		low := read(1)
		out, err := exec.Command(qemu, file).Output()
		high := read(1)
		if err != nil || len(out) != 48 {
			t.Fatalf("seed %d: %v, %d bytes", seed, err, len(out))
		}
		word := func(i int) int64 { return int64(binary.LittleEndian.Uint64(out[8*i:])) }
		if got := word(0)*1e9 + word(1); got < l.At(low) || got > l.At(high) || word(1) < 0 || word(1) >= 1e9 {
			t.Errorf("seed %d: %+v: clock_gettime(MONOTONIC) reads %d and not %d to %d", seed, l, got, l.At(low), l.At(high))
		}
		if got := word(2)*1e6 + word(3); got < read(0)/1000+3600e6-10e6 || got > read(0)/1000+3600e6 {
			t.Errorf("seed %d: gettimeofday reads %d: not an hour more than %d", seed, got, read(0)/1000)
		}
		if word(4)*1e9+word(5) > 60e9 {
			t.Errorf("seed %d: clock 2, the process's own CPU time, reads %d s", seed, word(4))
		}
	}
}

// armProgram is an ELF file: its header, a page as the agent makes it, a start.
func armProgram(t *testing.T, mono Line) []byte {
	t.Helper()
	const load, start = 0x400000, 2 * pageSize
	c, err := a64.assemble()
	if err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 3*pageSize)
	page := b[pageSize:]
	copy(page[codeAt:], c.bytes)
	put := func(clock int, words ...int64) {
		for i, w := range words {
			binary.LittleEndian.PutUint64(page[clock*entrySize+8*i:], uint64(w))
		}
	}
	put(0, 0, 3600e9)
	put(1, mono.Base, mono.Offset, mono.Drift, mono.Slew, mono.Span, 1)
	put(2, 0, 0, 0, 0, 0, 2)

	var code []byte
	emit := func(words ...uint32) {
		for _, w := range words {
			code = append(code, le32(w)...)
		}
	}
	call := func(stub string, x0, buf uint32) {
		emit(0x52800000|x0<<5, 0x910003e1|buf<<10) // mov w0, x0; add x1, sp, buf
		if stub == "gettimeofday" {
			emit(0x910003e0|buf<<10, 0xd10103e1) // add x0, sp, buf; sub x1, sp, 64: a zone to fill
		}
		distance := (pageSize + c.labels[stub] - start - len(code)) / 4
		emit(0x94000000 | uint32(distance)&(1<<26-1)) // bl stub
	}
	emit(0xd10203ff) // sub sp, sp, 128
	call("clock_gettime", 1, 0)
	call("gettimeofday", 0, 16)
	call("clock_gettime", 2, 32)
	emit(0x52800020, 0x910003e1, 0x52800602, 0x52800808, 0xd4000001) // write(1, sp, 48)
	emit(0x52800000, 0x52800ba8, 0xd4000001)                         // exit(0)
	copy(b[start:], code)

	copy(b, "\x7fELF\x02\x01\x01")
	for at, v := range map[int]uint64{24: load + start, 32: 64, 64 + 16: load, 64 + 24: load, 64 + 32: uint64(len(b)), 64 + 40: uint64(len(b)), 64 + 48: pageSize} {
		binary.LittleEndian.PutUint64(b[at:], v)
	}
	for at, v := range map[int]uint32{16: 2 | 183<<16, 20: 1, 52: 64 | 56<<16, 56: 1, 64: 1, 68: 7} { // executable, aarch64, one segment
		binary.LittleEndian.PutUint32(b[at:], v)
	}
	return b
}

func TestAssembleErrors(t *testing.T) {
	for _, test := range []struct {
		stubs []instruction
		want  string
	}{
		{[]instruction{{code: "zz"}}, "invalid byte"},
		{[]instruction{{code: "74 00", to: "nowhere", fix: rel8}}, "no label"},
		{[]instruction{{code: "74 00", to: "table", fix: rel8}}, "too far"},
		{[]instruction{{code: strings.Repeat("90", pageSize)}}, "do not fit"},
	} {
		_, err := (&machine{stubs: test.stubs}).assemble()
		if err == nil || !regexp.MustCompile(test.want).MatchString(err.Error()) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}
