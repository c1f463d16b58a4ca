// Package early plays the roles of dlmtest that start most often, before the packages that only its commands need are
// initialized: half of what a start of this binary costs. Go initializes packages by their import paths, each as soon
// as those that it imports are (since Go 1.21, go.dev/ref/spec#Program_initialization), so what imports little is there
// before most others. It is imported for that alone.
package early

import (
	"fmt"
	"os"
	"runtime"

	"github.com/dlmtest/dlmtest/clusters/local"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/nemesis/agent/lossy"
	"github.com/dlmtest/dlmtest/nemesis/agent/vdso"
)

// A program of somebody else's that imports dlmtest may have commands of these names: it is called otherwise.
func init() {
	if len(os.Args) < 2 || os.Args[0] != local.Name && os.Args[0] != local.Binary {
		return
	}
	var err error
	switch args := os.Args[2:]; os.Args[1] {
	case "agent": // the first process of a node; it mostly waits
		runtime.GOMAXPROCS(1)
		var name string
		if name, err = os.Hostname(); err == nil {
			err = agent.Main(name, os.Stdin, os.Stdout)
		}
	case "fs": // the lossy file system of a node
		err = lossy.Main(os.Stdin, os.Stdout, args...)
	case "clock": // tells what a program of a node reads on its clocks
		err = vdso.Report(os.Stdout)
	case local.Command: // the first process of a run without Docker
		err = local.Main(args)
	default:
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "dlmtest: "+err.Error())
		os.Exit(3)
	}
	os.Exit(0)
}
