package history

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Stream reads a history as Decode does, but holds a few operations at a time:
// each is called with one, and must copy what it keeps. A history that is cut
// off is an error, after all its whole lines. begin is called with its setup first; nil: nobody asks. An error of either ends it.
//
// Lines are parsed in a goroutine of its own while each works on earlier ones.
func Stream(in io.Reader, begin func(Setup) error, each func(*Op) error) error {
	lines := bufio.NewReaderSize(in, LineLimit)
	first, err := nextLine(lines)
	if errors.Is(err, io.EOF) {
		err = errors.New("no header: want {\"dlmtest_history\":1,…}")
	}
	var setup Setup
	if err == nil {
		setup, err = readHeader(first)
	}
	if err == nil && begin != nil {
		err = begin(setup)
	}
	if err != nil {
		return fmt.Errorf("history line 1: %w", err)
	}
	full, empty := make(chan batch, batches), make(chan []Op, batches)
	for range batches {
		empty <- make([]Op, 0, batchSize)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		parseBatches(lines, full, empty, stop)
	}()
	defer func() { // in must not be read any more when this returns
		close(stop)
		<-stopped
	}()
	for b := range full {
		for i := range b.ops {
			if err := each(&b.ops[i]); err != nil {
				return err
			}
		}
		if b.err != nil {
			return b.err
		}
		empty <- b.ops[:0]
	}
	return nil
}

const (
	batches   = 4
	batchSize = 128
)

// batch is what was parsed until there was enough of it, or an error.
type batch struct {
	ops []Op
	err error
}

// parseBatches parses lines until they end, in which case it closes full, or
// until an error, or stop.
func parseBatches(lines *bufio.Reader, full chan<- batch, empty <-chan []Op, stop <-chan struct{}) {
	defer close(full)
	parse, index := newParser(), 0
	for {
		var b batch
		select {
		case b.ops = <-empty:
		case <-stop:
			return
		}
		for len(b.ops) < batchSize && b.err == nil {
			b.ops = b.ops[:len(b.ops)+1]
			op := &b.ops[len(b.ops)-1]
			*op = Op{Index: index}
			if b.err = parse.next(lines, op); b.err != nil {
				b.ops = b.ops[:len(b.ops)-1]
			}
			index++
		}
		ended := b.err != nil
		if errors.Is(b.err, io.EOF) {
			b.err = nil
		}
		full <- b // there is room for as many as there are
		if ended {
			return
		}
	}
}

// next reads the line of an operation whose index is set; io.EOF: there is none.
func (p *parser) next(lines *bufio.Reader, op *Op) error {
	line, err := nextLine(lines)
	if errors.Is(err, io.EOF) {
		return err
	}
	if err == nil || errors.Is(err, ErrTruncated) {
		parsed := p.op(line, op)
		if parsed == nil {
			return nil // of a last line only its end is missing
		}
		if err == nil {
			err = parsed
		}
	}
	return fmt.Errorf("history line %d: %w", Line(op.Index), err)
}
