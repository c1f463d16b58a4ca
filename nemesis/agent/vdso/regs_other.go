//go:build !amd64 && !arm64

package vdso

import "errors"

// native is nil: NewPage refuses, and nothing below is reached.
var native *machine

type registers struct{}

var errProcessor = errors.New("clock: not written for this processor")

func (*registers) read(int) error  { return errProcessor }
func (*registers) write(int) error { return errProcessor }
func (*registers) pc() uint64      { return 0 }
func (*registers) sp() uint64      { return 0 }
func (*registers) result() int64   { return 0 }
func (*registers) enter(uint64)    {}
