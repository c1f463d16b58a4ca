package runner

import (
	"fmt"
	"io"
)

// logSize is how much of a node's log is kept: far more than anybody reads, and less than
// harms a disk. What a node prints is up to the code under test.
const logSize = 64 << 20

// shortLog is a file of which no more is written than its size, and then one line.
type shortLog struct {
	to   io.WriteCloser
	left int
}

// Write says that all of b is written, so that what prints it goes on.
func (l *shortLog) Write(b []byte) (int, error) {
	if l.left <= 0 {
		return len(b), nil
	}
	head := b[:min(len(b), l.left)]
	l.left -= len(head)
	if _, err := l.to.Write(head); err != nil || l.left > 0 {
		return len(b), err
	}
	_, err := fmt.Fprintln(l.to, "\ndlmtest: the rest is left out")
	return len(b), err
}

func (l *shortLog) Close() error { return l.to.Close() }
