// Package spare keeps in reserve what a program may need when the kernel gives no more.
package spare

import (
	"runtime"
	"sync"
)

// threads are more than the system calls of an agent or a worker were seen to block at once.
const threads = 32

// Threads has the Go runtime make some threads now. It keeps those that are idle. Where it needs one
// more and the kernel refuses, it ends the program: so it is when code under test in the
// same node has taken all processes that the node may have.
func Threads() {
	var made, free sync.WaitGroup
	made.Add(threads)
	for range threads {
		free.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			made.Done()
			made.Wait() // each on a thread of its own
		})
	}
	free.Wait()
}
