package dlmtest

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/locks"
)

// A fault of the Lock, of the user's library or of how it is used here, says nothing
// about whether the lock excludes. It ends the client that meets it.
func fault(format string, args ...any) error {
	return fmt.Errorf("%w: %s", locks.ErrFaulty, fmt.Sprintf(format, args...))
}

// broken says that a promise is not kept by a type.
func broken(promise, what string, v any, method string) error {
	return fault("Promise.%s is true, and the %s (%T) has no method %s", promise, what, v, method)
}

// overtime is for how long a call may go on after its context has ended. It counts only
// while this process runs: a client that is stopped is not slow.
var overtime = 10 * time.Second

// guard calls f, and makes an error of its panic, and of its not coming back after ctx
// has ended.
func guard[T any](ctx context.Context, what string, f func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.err = fault("%s panicked: %v\n%s", what, p, whereOf(debug.Stack()))
			}
			done <- r
		}()
		r.v, r.err = f()
	}()
	select {
	case r := <-done:
		return r.v, r.err
	case <-ctx.Done():
	}
	const tick = 50 * time.Millisecond
	for range overtime / tick {
		select {
		case r := <-done:
			return r.v, r.err
		case <-time.After(tick):
		}
	}
	var none T
	return none, fault("%s has not returned %v after its context ended (%v)", what, overtime, context.Cause(ctx))
}

// ownFrames begin the frames of a stack that are dlmtest's own calls of a Lock.
const ownFrames = "github.com/dlmtest/dlmtest.(*session)"

// whereOf is the part of a stack that is the user's: from the panic on, a few calls.
func whereOf(stack []byte) string {
	lines := strings.Split(strings.TrimSpace(string(stack)), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "panic(") {
			lines = lines[min(i+2, len(lines)):]
			break
		}
	}
	for i, line := range lines {
		if strings.HasPrefix(line, ownFrames) {
			lines = lines[:i]
			break
		}
	}
	return strings.Join(lines[:min(8, len(lines))], "\n")
}
