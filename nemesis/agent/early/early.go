// Package early plays the roles of dlmtest that start most often, before the packages that only its commands need are
// initialized: half of what a start of this binary costs. Go initializes packages by their import paths, each as soon
// as those that it imports are (since Go 1.21, go.dev/ref/spec#Program_initialization), so a role that imports little
// is there before most others.
package early

import (
	"fmt"
	"os"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// Name is what dlmtest is called when it starts itself.
const Name = "dlmtest"

// Role is called by an init function. In a process that was started as dlmtest in this role it runs main with the words
// behind the role's, and ends with it: with 0, or with 3 after an error. A program of somebody else's
// that imports dlmtest may have commands of these names: it is called otherwise.
func Role(role string, main func(args []string) error) {
	if len(os.Args) < 2 || os.Args[1] != role || os.Args[0] != Name && os.Args[0] != seal.Binary {
		return
	}
	if err := main(os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "dlmtest: "+err.Error())
		os.Exit(3)
	}
	os.Exit(0)
}
