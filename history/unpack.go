package history

import (
	"bytes"
	"compress/gzip"
	"errors"
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

// look reads the first bytes.
func look(in io.Reader, most int) ([]byte, error) {
	first := make([]byte, most)
	n, err := io.ReadFull(in, first)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // of what is packed it comes again when the rest is read
		err = nil
	}
	return first[:n], err
}
