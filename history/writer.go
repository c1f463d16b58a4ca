package history

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
)

// FlushEvery is the longest that an appended operation stays in memory.
const FlushEvery = 100 * time.Millisecond

const bufferSize = 256 << 10

// Writer appends operations to a history. It hands whole lines only to what it
// writes to, at the latest FlushEvery after they were appended, so a killed
// process leaves a history that can be judged. It is safe for concurrent use.
type Writer struct {
	mu    sync.Mutex
	out   io.Writer
	buf   []byte
	count int
	armed bool  // a flush by the clock is due
	err   error // the first one; every later call returns it
}

// NewWriter writes the header to out.
func NewWriter(out io.Writer, setup Setup) (*Writer, error) {
	line, err := json.Marshal(header{Version: Version, Setup: setup})
	if err != nil {
		return nil, fmt.Errorf("history header: %w", err)
	}
	w := &Writer{out: out, buf: append(line, '\n')}
	return w, w.Flush()
}

// Append adds operations in the order given and numbers them by their position.
func (w *Writer) Append(ops ...Op) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range ops {
		op := ops[i]
		op.Index = w.count
		w.count++
		w.buf = appendOp(w.buf, &op)
		if len(w.buf) >= bufferSize {
			w.flush()
		}
	}
	if len(w.buf) > 0 && !w.armed && w.err == nil {
		w.armed = true
		time.AfterFunc(FlushEvery, w.flushByClock)
	}
	return w.err
}

func (w *Writer) flushByClock() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = false
	w.flush()
}

// Flush hands everything appended to what the Writer writes to.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}

// flush empties the buffer, also after an error: nothing useful can follow half a line.
func (w *Writer) flush() {
	if w.err == nil && len(w.buf) > 0 {
		if _, err := w.out.Write(w.buf); err != nil {
			w.err = fmt.Errorf("history: %w", err)
		}
	}
	w.buf = w.buf[:0]
}

// Sync flushes, and then makes it durable where the writer beneath can.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if file, ok := w.out.(interface{ Sync() error }); ok {
		if err := file.Sync(); err != nil {
			return fmt.Errorf("history: %w", err)
		}
	}
	return nil
}

// Encode writes a whole history.
func Encode(out io.Writer, setup Setup, ops []Op) error {
	w, err := NewWriter(out, setup)
	if err != nil {
		return err
	}
	if err := w.Append(ops...); err != nil {
		return err
	}
	return w.Flush()
}
