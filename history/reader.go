package history

import (
	"bufio"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/go-json-experiment/json"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Version is the version of the file format that this package writes and reads.
const Version = 1

// LineLimit is the longest line that Decode accepts, in bytes: memory stays
// bounded whatever the file holds.
const LineLimit = 1 << 20

// SizeLimit is the largest history that Decode accepts, in bytes: all of it is held in memory, which takes about
// three times as much.
const SizeLimit = 2 << 30

// OpsLimit is how many lines it may have, as the shortest take twenty times their bytes. A run that records all that it may
// has fewer.
const OpsLimit = 12_000_000

// tooLarge says what to do with a history that Decode refuses.
func tooLarge(size int64) error {
	return fmt.Errorf("it has %s%d bytes, more than the %d that are read into memory: cut the run into shorter ones, or "+
		"judge the file piece by piece with dlmtest check FILE --model, see dlmtest list models",
		map[bool]string{true: "at least "}[size == SizeLimit+1], size, int64(SizeLimit))
}

// tooMany says what to do with a history of too many lines.
func tooMany() error {
	return fmt.Errorf("it has more than the %d lines that are read into memory: cut the run into shorter ones, or "+
		"judge the file piece by piece with dlmtest check FILE --model, see dlmtest list models", OpsLimit)
}

// ErrTruncated says that a history ends in the middle of a line, as one does
// whose run was killed. Decode returns what came before it.
var ErrTruncated = errors.New("the last line is cut off: the run was killed, or the disk was full")

// sizeLimit is SizeLimit, opsLimit is OpsLimit; tests have smaller ones.
var (
	sizeLimit int64 = SizeLimit
	opsLimit        = OpsLimit
)

// header is the first line of a history.
type header struct {
	Version int   `json:"dlmtest_history"`
	Setup   Setup `json:"setup"`
}

// version is what a header of any version says.
type version struct {
	Version int `json:"dlmtest_history"`
}

// Decode reads a history that Encode or a Writer wrote. Index is set to the
// position in the file. Every error names its line; with an error that matches
// ErrTruncated come all whole lines, so that a killed run can still be judged.
func Decode(in io.Reader) (Setup, []Op, error) {
	if size := sizeOf(in); size > SizeLimit {
		return Setup{}, nil, tooLarge(size)
	}
	lines := bufio.NewReaderSize(in, LineLimit)
	first, err := nextLine(lines)
	if err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, ErrTruncated) && !stdjson.Valid(first) {
			err = errors.New("no header: want {\"dlmtest_history\":1,…}")
		}
		if !errors.Is(err, ErrTruncated) {
			return Setup{}, nil, fmt.Errorf("history line 1: %w", err)
		}
	}
	setup, err := readHeader(first)
	if err != nil {
		return Setup{}, nil, fmt.Errorf("history line 1: %w", err)
	}
	ops, err := readOps(lines, sizeOf(in))
	return setup, ops, err
}

// readHeader reads the first line. What is unknown in it, or there twice, is refused: a promise
// skipped in silence could change a verdict.
func readHeader(line []byte) (Setup, error) {
	var v version
	if err := stdjson.Unmarshal(line, &v); err != nil {
		return Setup{}, fmt.Errorf("not a dlmtest history: %w", err)
	}
	switch {
	case v.Version > Version:
		return Setup{}, fmt.Errorf("written by a newer dlmtest: version %d, this one reads up to %d", v.Version, Version)
	case v.Version < 1:
		return Setup{}, errors.New(`not a dlmtest history: "dlmtest_history" is missing or below 1`)
	}
	var h header
	if err := json.Unmarshal(line, &h, json.RejectUnknownMembers(true), jsonv1.FormatDurationAsNano(true)); err != nil {
		var wrong *json.SemanticError
		if errors.As(err, &wrong) && errors.Is(err, json.ErrUnknownName) {
			err = fmt.Errorf("unknown field %q at %s", wrong.JSONPointer.LastToken(), wrong.JSONPointer)
		}
		return Setup{}, fmt.Errorf("setup: %w", err)
	}
	if err := h.Setup.check(); err != nil {
		return Setup{}, fmt.Errorf("setup: %w", err)
	}
	var given struct {
		Setup struct{ Promise stdjson.RawMessage }
	}
	if stdjson.Unmarshal(line, &given) == nil && given.Setup.Promise == nil { // without it a lock with a lease would be accused of ending
		return Setup{}, errors.New("setup: promise is missing: it says what the lock claims, and nothing else is judged")
	}
	return h.Setup, nil
}

// readOps reads the lines after the header. size is that of the whole file, or 0.
func readOps(lines *bufio.Reader, size int64) ([]Op, error) {
	var ops []Op
	var read int64
	parse := newParser()
	for {
		line, err := nextLine(lines)
		if errors.Is(err, io.EOF) {
			return ops, nil
		}
		cut := errors.Is(err, ErrTruncated)
		if err != nil && !cut {
			return ops, fmt.Errorf("history line %d: %w", len(ops)+2, err)
		}
		if read += int64(len(line)); read > sizeLimit {
			return ops, tooLarge(SizeLimit + 1)
		}
		if len(ops) == opsLimit {
			return ops, tooMany()
		}
		if len(ops) == 1000 && size > read {
			ops = slices.Grow(ops, min(int((size-read)*1020/read), opsLimit)) // one allocation instead of growth by steps
		}
		ops = append(ops, Op{Index: len(ops)})
		if err := parse.op(line, &ops[len(ops)-1]); err != nil {
			if cut {
				err = ErrTruncated
			}
			return ops[:len(ops)-1], fmt.Errorf("history line %d: %w", len(ops)+1, err)
		}
	}
}

// nextLine returns the next line; ErrTruncated with the bytes of a last line
// that has no end.
func nextLine(lines *bufio.Reader) ([]byte, error) {
	line, err := lines.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("longer than %d bytes: no line of a history is, so this is none, or it is damaged; "+
			"dlmtest list formats has what can be read", LineLimit)
	case errors.Is(err, io.EOF) && len(line) > 0:
		return line, ErrTruncated
	}
	return line, err
}

// sizeOf is how many bytes in will give, 0 if it cannot say.
func sizeOf(in io.Reader) int64 {
	switch in := in.(type) {
	case interface{ Size() int64 }:
		return in.Size()
	case *os.File:
		if info, err := in.Stat(); err == nil && info.Mode().IsRegular() {
			return info.Size()
		}
	}
	return 0
}
