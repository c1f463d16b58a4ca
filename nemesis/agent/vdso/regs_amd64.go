package vdso

import "golang.org/x/sys/unix"

var native = x86

// registers are those of a stopped program.
type registers struct{ unix.PtraceRegs }

func (r *registers) read(tid int) error  { return unix.PtraceGetRegs(tid, &r.PtraceRegs) }
func (r *registers) write(tid int) error { return unix.PtraceSetRegs(tid, &r.PtraceRegs) }
func (r *registers) pc() uint64          { return r.Rip }
func (r *registers) sp() uint64          { return r.Rsp }
func (r *registers) result() int64       { return int64(r.Rax) }

// enter lets the program go on at pc with 0 as the result of its exec, and keeps the
// kernel from restarting a system call that the registers seem to be in.
func (r *registers) enter(pc uint64) { r.Rip, r.Rax, r.Orig_rax = pc, 0, ^uint64(0) }
