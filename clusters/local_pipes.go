package clusters

import (
	"io"
	"os"
)

// pipes collects both ends of the pipes to the processes of a run, and the first
// error in making them.
type pipes struct {
	ours, theirs []*os.File
	err          error
}

func (p *pipes) make() (r, w *os.File) {
	r, w, err := os.Pipe()
	if err != nil && p.err == nil {
		p.err = err
	}
	return r, w
}

// toThem is a pipe that they read.
func (p *pipes) toThem() (theirs, ours *os.File) {
	theirs, ours = p.make()
	p.ours, p.theirs = append(p.ours, ours), append(p.theirs, theirs)
	return theirs, ours
}

// fromThem is a pipe that they write.
func (p *pipes) fromThem() (ours, theirs *os.File) {
	ours, theirs = p.make()
	p.ours, p.theirs = append(p.ours, ours), append(p.theirs, theirs)
	return ours, theirs
}

// closeTheirs is for when they have been passed on, or never will be.
func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close() // nil is an error that nobody needs
	}
}

func (p *pipes) closeOurs() {
	for _, f := range p.ours {
		_ = f.Close()
	}
}

// connect gives a node its pipes and returns their far ends.
func (n *localNode) connect(p *pipes) []*os.File {
	stdinR, stdinW := p.toThem()
	stdoutR, stdoutW := p.fromThem()
	stderrR, stderrW := p.fromThem()
	n.tail, n.copied, n.exited = newTail(), make(chan struct{}), make(chan Exit, 1)
	n.stderr = stderrR
	n.Stdin, n.Stdout, n.Stderr, n.Exited = stdinW, localStdout{stdoutR}, n.tail, n.exited
	return []*os.File{stdinR, stdoutW, stderrW}
}

// copyStderr never lets the agent wait: the tail drops what nobody reads.
func (n *localNode) copyStderr() {
	_, _ = io.Copy(n.tail, n.stderr)
	_, _ = n.tail.Close(), n.stderr.Close()
	close(n.copied)
}
