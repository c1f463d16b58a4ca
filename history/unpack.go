package history

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// The first bytes of what gzip has packed, and the mark with which some editors begin a text of UTF-8.
var (
	packed = []byte{0x1f, 0x8b}
	mark   = []byte("\xef\xbb\xbf")
)

// Unpack returns the text of a file that may be packed by gzip, or begin with the mark of UTF-8,
// and the first bytes of that text, as many as asked for or a few more. Of a file that is neither, in
// itself is read on from its beginning where it can be: a reader may ask it for its size.
func Unpack(in io.Reader, bytesAsked int) (text io.Reader, first []byte, err error) {
	text = in
	bytesAsked += len(mark)
	if first, err = look(in, bytesAsked); err != nil {
		return nil, nil, err
	}
	plain := true
	if bytes.HasPrefix(first, packed) {
		if text, err = gzip.NewReader(io.MultiReader(bytes.NewReader(first), in)); err != nil {
			return nil, nil, err
		}
		text = &bounded{in: text, left: mostUnpacked}
		if first, err = look(text, bytesAsked); err != nil {
			return nil, nil, err
		}
		plain = false
	}
	all := first
	first = bytes.TrimPrefix(first, mark)
	if file, ok := in.(io.Seeker); ok && plain && len(first) == len(all) {
		if _, err := file.Seek(-int64(len(first)), io.SeekCurrent); err == nil { // a pipe cannot
			return in, first, nil
		}
	}
	return io.MultiReader(bytes.NewReader(first), text), first, nil
}

// mostUnpacked is how long a text may be that was packed, some five million operations: a thousand times
// as much fits into a file that nobody takes for large.
var mostUnpacked int64 = 1 << 30

// bounded is a text that may be read to its end, or as far as it may go.
type bounded struct {
	in   io.Reader
	left int64
}

// Read implements io.Reader. An end that comes in time is no error.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes; if it is no bomb, unpack it yourself (gunzip) and give the text", mostUnpacked)
	}
	return n, err
}

// look reads the first bytes.
func look(in io.Reader, most int) ([]byte, error) {
	first := make([]byte, most)
	n, err := io.ReadFull(in, first)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // of what is packed it comes again when the rest is read
		err = nil
	}
	return first[:n], err
}
