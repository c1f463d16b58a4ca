package adapter

import (
	"fmt"
	"runtime/debug"
)

// VersionOf is the version of a module in this program, by its build info.
func VersionOf(module string) string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if m.Path == module {
				return m.Version
			}
		}
	}
	return "unknown"
}

// Older compares versions such as v1.3.1 by their three numbers.
func Older(version, than string) bool {
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
