package vdso

import "golang.org/x/sys/unix"

var native = a64

// ntPrstatus names the general registers in PTRACE_GETREGSET.
const ntPrstatus = 1

// registers are those of a stopped program.
type registers struct{ unix.PtraceRegsArm64 }

func (r *registers) read(tid int) error {
	return unix.PtraceGetRegSetArm64(tid, ntPrstatus, &r.PtraceRegsArm64)
}

func (r *registers) write(tid int) error {
	return unix.PtraceSetRegSetArm64(tid, ntPrstatus, &r.PtraceRegsArm64)
}

func (r *registers) pc() uint64    { return r.Pc }
func (r *registers) sp() uint64    { return r.Sp }
func (r *registers) result() int64 { return int64(r.Regs[0]) }

// enter lets the program go on at pc with 0 as the result of its exec.
func (r *registers) enter(pc uint64) { r.Pc, r.Regs[0] = pc, 0 }
