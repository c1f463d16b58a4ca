package libraries

import (
	"runtime/debug"
	"sync"
)

// build holds the versions of all modules that this program was built with.
var build = sync.OnceValue(func() map[string]string {
	versions := map[string]string{}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return versions
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = &debug.Module{Path: m.Path, Version: m.Replace.Version + " (" + m.Replace.Path + ")"}
		}
		versions[m.Path] = m.Version
	}
	return versions
})

// Version is that of a module in this program, as its build info has it; "" where the
// build did not say.
func Version(module string) string { return build()[module] }
