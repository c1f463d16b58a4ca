// Package gozero is the adapter of go-zero's RedisLock: Acquire again and again until the wait
// ends, Acquire once more to renew, Release. It tells no validity, and its server keeps a lock
// a little longer than asked for. It runs in a process of its own alone: go-zero's Redis
// package, when imported, takes SIGINT and SIGTERM of the whole program.
package gozero

import "github.com/dlmtest/dlmtest/locks/protocol/adapter"

// Adapter is the library behind the lock client protocol; it opens where it is built alone.
var Adapter = adapter.Adapter{Name: "go-zero", Offers: []string{"lease", "extend", "wait", "try", "sent"}}
