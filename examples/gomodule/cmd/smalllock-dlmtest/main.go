// Command smalllock-dlmtest is all of dlmtest, with smalllock among the libraries:
//
//	CGO_ENABLED=0 go build ./cmd/smalllock-dlmtest
//	./smalllock-dlmtest conform --library smalllock
//	./smalllock-dlmtest run --scenario gc-pause --library smalllock
package main

import (
	"github.com/dlmtest/dlmtest"

	"example.com/smalllock/undertest"
)

func main() { dlmtest.Main(undertest.Lock) }
