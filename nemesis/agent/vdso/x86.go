package vdso

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// x86 bends by these stubs. Both the system call convention (rcx and r11 are lost) and
// the C one (rdi, rsi, rdx, rcx, r8 to r11 belong to the callee) allow the registers;
// Go and C call the vDSO alike.
var x86 = &machine{
	symbols: map[string]string{
		"__vdso_clock_gettime": "clock_gettime",
		"__vdso_gettimeofday":  "gettimeofday",
		"__vdso_time":          "time",
	},
	attach: func(id int) []byte {
		return slices.Concat(
			[]byte{0xb8}, le32(30), // mov eax, SYS_shmat
			[]byte{0xbf}, le32(uint32(id)), // mov edi, id
			[]byte{0x31, 0xf6},                 // xor esi, esi: anywhere
			[]byte{0xba}, le32(shmReadExecute), // mov edx, flags
			[]byte{0x0f, 0x05, 0xcc}, // syscall; int3
		)
	},
	jump: func(to uint64) []byte {
		return slices.Concat([]byte{0x48, 0xb8}, le64(to), []byte{0xff, 0xe0}) // movabs rax, to; jmp rax
	},
	stubs: []instruction{
		// int clock_gettime(clockid edi, struct timespec *rsi)
		{"clock_gettime", "cmp edi, 0xf", "83 ff 0f", "", nil},
		{"", "ja plain", "0f 87 00000000", "plain", rel32}, // unsigned: negative ids are clocks of processes
		{"", "mov r8d, edi", "41 89 f8", "", nil},
		{"", "shl r8d, 0x6", "41 c1 e0 06", "", nil}, // entrySize
		{"", "lea r9, ptr [rip+table]", "4c 8d 0d 00000000", "table", rel32},
		{"", "add r8, r9", "4d 01 c8", "", nil}, // r8: the entry
		{"retry", "mov r10d, dword ptr [rip+seq]", "44 8b 15 00000000", "seq", rel32},
		{"", "test r10b, 0x1", "41 f6 c2 01", "", nil},
		{"", "jnz busy", "75 00", "busy", rel8},
		{"", "mov edi, dword ptr [r8+0x28]", "41 8b 78 28", "", nil}, // sourceWord
		{"", "mov eax, 0xe4", "b8 e4000000", "", nil},                // SYS_clock_gettime
		{"", "syscall", "0f 05", "", nil},
		{"", "test rax, rax", "48 85 c0", "", nil},
		{"", "jnz done", "75 00", "done", rel8},
		{"", "imul rax, qword ptr [rsi], 0x3b9aca00", "48 69 06 00ca9a3b", "", nil},
		{"", "add rax, qword ptr [rsi+0x8]", "48 03 46 08", "", nil}, // x, in ns
		{"", "mov r9, rax", "49 89 c1", "", nil},
		{"", "sub rax, qword ptr [r8]", "49 2b 00", "", nil}, // d = x − base
		{"", "mov rcx, rax", "48 89 c1", "", nil},
		{"", "imul qword ptr [r8+0x10]", "49 f7 68 10", "", nil},     // rdx:rax = d·drift
		{"", "shrd rax, rdx, 0x20", "48 0f ac d0 20", "", nil},       // / 2^32
		{"", "add r9, qword ptr [r8+0x8]", "4d 03 48 08", "", nil},   // x + offset
		{"", "add r9, rax", "49 01 c1", "", nil},                     // + drift
		{"", "mov rax, qword ptr [r8+0x20]", "49 8b 40 20", "", nil}, // span
		{"", "cmp rcx, rax", "48 39 c1", "", nil},
		{"", "cmovl rax, rcx", "48 0f 4c c1", "", nil}, // min(d, span)
		{"", "imul qword ptr [r8+0x18]", "49 f7 68 18", "", nil},
		{"", "shrd rax, rdx, 0x20", "48 0f ac d0 20", "", nil},
		{"", "add rax, r9", "4c 01 c8", "", nil}, // + slew
		{"", "cmp r10d, dword ptr [rip+seq]", "44 3b 15 00000000", "seq", rel32},
		{"", "jnz retry", "75 00", "retry", rel8}, // a Set came between
		{"", "xor edx, edx", "31 d2", "", nil},
		{"", "mov ecx, 0x3b9aca00", "b9 00ca9a3b", "", nil},
		{"", "div rcx", "48 f7 f1", "", nil},
		{"", "mov qword ptr [rsi], rax", "48 89 06", "", nil},
		{"", "mov qword ptr [rsi+0x8], rdx", "48 89 56 08", "", nil},
		{"", "xor eax, eax", "31 c0", "", nil},
		{"done", "ret", "c3", "", nil},
		{"busy", "pause", "f3 90", "", nil},
		{"", "jmp retry", "eb 00", "retry", rel8},
		{"plain", "mov eax, 0xe4", "b8 e4000000", "", nil},
		{"", "syscall", "0f 05", "", nil},
		{"", "ret", "c3", "", nil},

		// int gettimeofday(struct timeval *rdi, struct timezone *rsi); either may be null
		{"gettimeofday", "test rsi, rsi", "48 85 f6", "", nil},
		{"", "jz no_zone", "74 00", "no_zone", rel8},
		{"", "push rdi", "57", "", nil},
		{"", "xor edi, edi", "31 ff", "", nil},
		{"", "mov eax, 0x60", "b8 60000000", "", nil}, // SYS_gettimeofday, of the zone alone
		{"", "syscall", "0f 05", "", nil},
		{"", "pop rdi", "5f", "", nil},
		{"no_zone", "test rdi, rdi", "48 85 ff", "", nil},
		{"", "jz zero", "74 00", "zero", rel8},
		{"", "mov rsi, rdi", "48 89 fe", "", nil},
		{"", "xor edi, edi", "31 ff", "", nil}, // CLOCK_REALTIME
		{"", "call clock_gettime", "e8 00000000", "clock_gettime", rel32},
		{"", "test rax, rax", "48 85 c0", "", nil},
		{"", "jnz end", "75 00", "end", rel8},
		{"", "mov rax, qword ptr [rsi+0x8]", "48 8b 46 08", "", nil},
		{"", "xor edx, edx", "31 d2", "", nil},
		{"", "mov ecx, 0x3e8", "b9 e8030000", "", nil},
		{"", "div rcx", "48 f7 f1", "", nil}, // ns to µs
		{"", "mov qword ptr [rsi+0x8], rax", "48 89 46 08", "", nil},
		{"zero", "xor eax, eax", "31 c0", "", nil},
		{"end", "ret", "c3", "", nil},

		// time_t time(time_t *rdi), which may be null
		{"time", "sub rsp, 0x18", "48 83 ec 18", "", nil},
		{"", "mov qword ptr [rsp+0x10], rdi", "48 89 7c 24 10", "", nil},
		{"", "mov rsi, rsp", "48 89 e6", "", nil},
		{"", "xor edi, edi", "31 ff", "", nil},
		{"", "call clock_gettime", "e8 00000000", "clock_gettime", rel32},
		{"", "mov rax, qword ptr [rsp]", "48 8b 04 24", "", nil},
		{"", "mov rdi, qword ptr [rsp+0x10]", "48 8b 7c 24 10", "", nil},
		{"", "add rsp, 0x18", "48 83 c4 18", "", nil},
		{"", "test rdi, rdi", "48 85 ff", "", nil},
		{"", "jz told", "74 00", "told", rel8},
		{"", "mov qword ptr [rdi], rax", "48 89 07", "", nil},
		{"told", "ret", "c3", "", nil},
	},
}

// rel8 and rel32 put the distance from the end of the instruction into its last
// byte, or its last four.
func rel8(b []byte, at, target int) error {
	d := target - (at + len(b))
	if d != int(int8(d)) {
		return fmt.Errorf("%d bytes are too far", d)
	}
	b[len(b)-1] = byte(d)
	return nil
}

func rel32(b []byte, at, target int) error {
	binary.LittleEndian.PutUint32(b[len(b)-4:], uint32(target-(at+len(b))))
	return nil
}
