//go:build ignore

package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

// versionOf is the version of a module in this program.
func versionOf(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, m := range info.Deps {
		if m.Path == module {
			return m.Version
		}
	}
	return "unknown"
}

// older compares versions such as v1.3.1.
func older(version, than string) bool {
	var a, b [3]int
	_, _ = fmt.Sscanf(version, "v%d.%d.%d", &a[0], &a[1], &a[2])
	_, _ = fmt.Sscanf(than, "v%d.%d.%d", &b[0], &b[1], &b[2])
	for i := range a {
		if a[i] != b[i] {
			return a[i] < b[i]
		}
	}
	return false
}

// pause waits for d; false: ctx has ended.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
