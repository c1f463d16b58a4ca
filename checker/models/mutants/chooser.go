package main

// chooser is what planted code asks: MUTANT names the mistake that is made, and
// MUTANT_SEEN a file to which the number of each mistake is added whose place is
// come by for the first time, so that only the tests are run that come by it.
const chooser = `
import (
	"os"
	"strconv"
	"sync/atomic"
)

const mutantsPlanted = %d

var (
	mutantChosen = func() int {
		n, err := strconv.Atoi(os.Getenv("MUTANT"))
		if err != nil {
			return -1
		}
		return n
	}()
	mutantFile = os.Getenv("MUTANT_SEEN")
	mutantSeen [mutantsPlanted]atomic.Bool
)

func mutant(i int) bool {
	if mutantFile != "" && !mutantSeen[i].Swap(true) {
		if f, err := os.OpenFile(mutantFile, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			_, _ = f.WriteString(strconv.Itoa(i) + "\n")
			_ = f.Close()
		}
	}
	return i == mutantChosen
}

func mutated(i int, right, wrong func() bool) bool {
	if mutant(i) {
		return wrong()
	}
	return right()
}
`
