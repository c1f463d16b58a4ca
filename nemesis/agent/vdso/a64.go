package vdso

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// a64 bends by these stubs, on arm64. A system call changes x0 alone; x0 to x17 belong
// to the callee.
var a64 = &machine{
	symbols: map[string]string{
		"__kernel_clock_gettime": "clock_gettime",
		"__kernel_gettimeofday":  "gettimeofday",
	},
	trapBack: 4, // a brk reports its own address, an int3 the one after it
	attach: func(id int) []byte {
		return slices.Concat(
			le32(0x52800000|uint32(id)&0xffff<<5),      // mov w0, low half of id
			le32(0x72a00000|uint32(id)>>16<<5),         // movk w0, high half, lsl 16
			le32(0xd2800001),                           // mov x1, 0: anywhere
			le32(0x52800002|uint32(shmReadExecute)<<5), // mov w2, flags
			le32(0x52801888),                           // mov w8, SYS_shmat
			le32(0xd4000001), le32(0xd4200000),         // svc 0; brk 0
		)
	},
	jump: func(to uint64) []byte {
		// bti c, as the function had it: a program with branch protection may jump to no
		// other instruction. Then ldr x16, the 8 bytes behind; br x16.
		return slices.Concat(le32(0xd503245f), le32(0x58000050), le32(0xd61f0200), le64(to))
	},
	stubs: []instruction{
		// int clock_gettime(clockid w0, struct timespec *x1)
		a("clock_gettime", "cmp w0, #0xf", 0x71003c1f, "", nil),
		a("", "b.hi plain", 0x54000008, "plain", imm19), // unsigned: negative ids are clocks of processes
		a("", "adr x9, table", 0x10000009, "table", adr),
		a("", "mov w0, w0", 0x2a0003e0, "", nil),             // clear the upper half
		a("", "add x9, x9, x0, lsl #6", 0x8b001929, "", nil), // entrySize; x9: the entry
		a("", "adr x10, seq", 0x1000000a, "seq", adr),
		a("retry", "ldar w11, [x10]", 0x88dffd4b, "", nil), // no load below may come before it
		a("", "tbnz w11, #0, busy", 0x3700000b, "busy", imm14),
		a("", "ldr w0, [x9,#40]", 0xb9402920, "", nil), // sourceWord
		a("", "mov w8, #0x71", 0x52800e28, "", nil),    // SYS_clock_gettime
		a("", "svc #0x0", 0xd4000001, "", nil),
		a("", "cbnz x0, done", 0xb5000000, "done", imm19),
		a("", "ldp x2, x3, [x1]", 0xa9400c22, "", nil),
		a("", "mov w4, #0xca00", 0x52994004, "", nil),
		a("", "movk w4, #0x3b9a, lsl #16", 0x72a77344, "", nil), // 1e9
		a("", "madd x2, x2, x4, x3", 0x9b040c42, "", nil),       // x, in ns
		a("", "ldp x5, x6, [x9]", 0xa9401925, "", nil),          // base, offset
		a("", "ldp x7, x12, [x9,#16]", 0xa9413127, "", nil),     // drift, slew
		a("", "ldr x13, [x9,#32]", 0xf940112d, "", nil),         // span
		a("", "sub x3, x2, x5", 0xcb050043, "", nil),            // d = x − base
		a("", "add x2, x2, x6", 0x8b060042, "", nil),            // x + offset
		a("", "mul x14, x3, x7", 0x9b077c6e, "", nil),
		a("", "smulh x15, x3, x7", 0x9b477c6f, "", nil),       // x15:x14 = d·drift
		a("", "extr x14, x15, x14, #32", 0x93ce81ee, "", nil), // / 2^32
		a("", "add x2, x2, x14", 0x8b0e0042, "", nil),
		a("", "cmp x3, x13", 0xeb0d007f, "", nil),
		a("", "csel x3, x3, x13, lt", 0x9a8db063, "", nil), // min(d, span)
		a("", "mul x14, x3, x12", 0x9b0c7c6e, "", nil),
		a("", "smulh x15, x3, x12", 0x9b4c7c6f, "", nil),
		a("", "extr x14, x15, x14, #32", 0x93ce81ee, "", nil),
		a("", "add x2, x2, x14", 0x8b0e0042, "", nil),
		a("", "dmb ishld", 0xd50339bf, "", nil), // the loads above come before the one below
		a("", "ldr w15, [x10]", 0xb940014f, "", nil),
		a("", "cmp w15, w11", 0x6b0b01ff, "", nil),
		a("", "b.ne retry", 0x54000001, "retry", imm19), // a Set came between
		a("", "udiv x3, x2, x4", 0x9ac40843, "", nil),
		a("", "msub x2, x3, x4, x2", 0x9b048862, "", nil),
		a("", "stp x3, x2, [x1]", 0xa9000823, "", nil),
		a("", "mov w0, #0x0", 0x52800000, "", nil),
		a("done", "ret", 0xd65f03c0, "", nil),
		a("busy", "yield", 0xd503203f, "", nil),
		a("", "b retry", 0x14000000, "retry", imm26),
		a("plain", "mov w8, #0x71", 0x52800e28, "", nil),
		a("", "svc #0x0", 0xd4000001, "", nil),
		a("", "ret", 0xd65f03c0, "", nil),

		// int gettimeofday(struct timeval *x0, struct timezone *x1); either may be null
		a("gettimeofday", "cbz x1, no_zone", 0xb4000001, "no_zone", imm19),
		a("", "mov x2, x0", 0xaa0003e2, "", nil),
		a("", "mov x0, #0x0", 0xd2800000, "", nil),
		a("", "mov w8, #0xa9", 0x52801528, "", nil), // SYS_gettimeofday, of the zone alone
		a("", "svc #0x0", 0xd4000001, "", nil),
		a("", "mov x0, x2", 0xaa0203e0, "", nil),
		a("no_zone", "cbz x0, zero", 0xb4000000, "zero", imm19),
		a("", "mov x1, x0", 0xaa0003e1, "", nil),
		a("", "mov w0, #0x0", 0x52800000, "", nil), // CLOCK_REALTIME
		a("", "mov x17, x30", 0xaa1e03f1, "", nil), // clock_gettime above leaves x17 alone
		a("", "bl clock_gettime", 0x94000000, "clock_gettime", imm26),
		a("", "mov x30, x17", 0xaa1103fe, "", nil),
		a("", "cbnz x0, end", 0xb5000000, "end", imm19),
		a("", "ldr x2, [x1,#8]", 0xf9400422, "", nil),
		a("", "mov w3, #0x3e8", 0x52807d03, "", nil),
		a("", "udiv x2, x2, x3", 0x9ac30842, "", nil), // ns to µs
		a("", "str x2, [x1,#8]", 0xf9000422, "", nil),
		a("zero", "mov w0, #0x0", 0x52800000, "", nil),
		a("end", "ret", 0xd65f03c0, "", nil),
	},
}

// a is one instruction of arm64, as the word that its manual writes.
func a(label, text string, word uint32, to string, fix fixup) instruction {
	return instruction{label, text, hex.EncodeToString(le32(word)), to, fix}
}

// imm14, imm19 and imm26 put a distance in words into a branch of that many bits.
func imm14(b []byte, at, target int) error { return branch(b, at, target, 14, 5) }
func imm19(b []byte, at, target int) error { return branch(b, at, target, 19, 5) }
func imm26(b []byte, at, target int) error { return branch(b, at, target, 26, 0) }

func branch(b []byte, at, target, width, shift int) error {
	d := (target - at) / 4
	if d < -1<<(width-1) || d >= 1<<(width-1) {
		return fmt.Errorf("%d instructions are too far", d)
	}
	orWord(b, uint32(d)&(1<<width-1)<<shift)
	return nil
}

// adr puts a distance in bytes into two fields: its last two bits stand apart.
func adr(b []byte, at, target int) error {
	d := uint32(target - at)
	orWord(b, d&3<<29|d>>2&(1<<19-1)<<5)
	return nil
}

func orWord(b []byte, v uint32) {
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)|v)
}
