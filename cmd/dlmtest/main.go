// Command dlmtest runs a distributed lock against real faults and judges whether
// it still excludes, and if not, whether fencing saved the data.
package main

import "github.com/dlmtest/dlmtest"

func main() { dlmtest.Main() }
