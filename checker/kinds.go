package checker

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// promised says whether a property is promised, and why not.
type promised func(history.Setup) (bool, string)

// both wants two things to be promised.
func both(a, b promised) promised {
	return func(s history.Setup) (bool, string) {
		if ok, why := a(s); !ok {
			return ok, why
		}
		return b(s)
	}
}

func only(k history.Kind) []history.Kind { return []history.Kind{k} }

// alone is for locks that let in one client at a time.
func alone(s history.Setup) (bool, string) {
	return !s.Kind.Shares(), fmt.Sprintf("Several clients may hold a lock of the kind %s at once.", s.Kind)
}

// oneWriter is for locks of which one client at a time may write.
func oneWriter(s history.Setup) (bool, string) {
	if s.Kind == history.ReadWrite {
		return true, ""
	}
	return alone(s)
}

// fences is for locks of which a token tells who is stale: whoever holds a permit may have any.
func fences(s history.Setup) (bool, string) {
	return s.Kind != history.Semaphore, "The holders of a semaphore hold it together, so no token tells which of them is stale."
}

// written is for workloads that write what they have read.
func written(s history.Setup) (bool, string) {
	return s.Kind != history.Semaphore, "The holders of a semaphore write nothing."
}
