// Command dlmtest runs a distributed lock against real faults and judges whether
// it still excludes, and if not, whether fencing saved the data.
package main

import (
	"os"

	"github.com/dlmtest/dlmtest/cmd/cli"
)

// version is set at link time.
var version = "development"

func main() { os.Exit(cli.Main(version)) }
