package formats

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strconv"

	"github.com/dlmtest/dlmtest/history"
)

// blocks is a test as newer Jepsen stores it, in test.jepsen: a magic word, a version, the
// offset of the index, and then blocks that anybody may have appended to the file. A block
// is a header of its length, its checksum and its type, and its data. The index says where
// the block of each number lies, and which one is the test: a map in Fressian in which
// larger values, such as the history and the results, are numbers of blocks.
type blocks struct {
	in   []byte
	at   map[uint32]uint64
	root uint32
	used map[uint32]bool // of the history: none may come twice
}

const (
	blocksMagic = "JEPSEN"
	firstBlock  = len(blocksMagic) + 4 + 8
	largestTest = 1 << 30 // bytes that are read of a file of blocks, which must be in memory
)

// Types of blocks.
const (
	blockIndex uint16 = iota + 1
	blockFressian
	blockPartialMap
	blockStream
	blockBigVector
)

var errNoHistory = errors.New("no history is in it: the test ended before its first checkpoint")

// openBlocks reads the index of a test.
func openBlocks(in io.Reader) (*blocks, error) {
	all, err := io.ReadAll(io.LimitReader(in, largestTest+1))
	switch {
	case err != nil:
		return nil, err
	case len(all) > largestTest:
		return nil, fmt.Errorf("more than %d bytes of blocks: its history.edn can be read", largestTest)
	case !bytes.HasPrefix(all, []byte(blocksMagic)):
		return nil, errors.New("no file of Jepsen's blocks")
	case len(all) < firstBlock:
		return nil, ErrTruncated
	}
	b := &blocks{in: all, at: map[uint32]uint64{}, used: map[uint32]bool{}}
	if version := binary.BigEndian.Uint32(all[len(blocksMagic):]); version > 1 {
		return nil, fmt.Errorf("version %d of Jepsen's blocks: 0 and 1 are known; its history.edn can be read", version)
	}
	offset := binary.BigEndian.Uint64(all[firstBlock-8:])
	if offset == 0 {
		return nil, errNoHistory
	}
	kind, data, err := b.block(offset)
	if err != nil {
		return nil, fmt.Errorf("the index: %w", err)
	}
	if kind != blockIndex || len(data) < 4 || (len(data)-4)%12 != 0 {
		return nil, fmt.Errorf("the index is a block of type %d with %d bytes", kind, len(data))
	}
	b.root = binary.BigEndian.Uint32(data)
	for data = data[4:]; len(data) > 0; data = data[12:] {
		b.at[binary.BigEndian.Uint32(data)] = binary.BigEndian.Uint64(data[4:])
	}
	return b, nil
}

// block reads the block at an offset. Of its header the type has two bytes by the
// description of the format, and sixteen as Jepsen writes it: the checksum says which.
func (b *blocks) block(offset uint64) (kind uint16, data []byte, err error) {
	rest := b.in[min(offset, uint64(len(b.in))):]
	if offset < uint64(firstBlock) || len(rest) < 14 {
		return 0, nil, fmt.Errorf("block at byte %d: %w", offset, ErrTruncated)
	}
	length := binary.BigEndian.Uint64(rest)
	if length < 14 || length > uint64(len(rest)) {
		return 0, nil, fmt.Errorf("block at byte %d: its length is %d, and %d bytes follow: %w", offset, length, len(rest), ErrTruncated)
	}
	for _, size := range []uint64{28, 14} {
		if length < size {
			continue
		}
		header := bytes.Clone(rest[:size])
		copy(header[8:12], "\x00\x00\x00\x00") // the checksum is that of a header without it
		sum := crc32.Update(crc32.ChecksumIEEE(rest[size:length]), crc32.IEEETable, header)
		if sum == binary.BigEndian.Uint32(rest[8:]) {
			return binary.BigEndian.Uint16(rest[12:]), rest[size:length], nil
		}
	}
	return 0, nil, fmt.Errorf("block at byte %d: its checksum is wrong: the file is damaged, or not whole", offset)
}

func (b *blocks) byNumber(n uint32) (kind uint16, data []byte, err error) {
	offset, found := b.at[n]
	if !found {
		return 0, nil, fmt.Errorf("block %d is not in the index", n)
	}
	if kind, data, err = b.block(offset); err != nil {
		err = fmt.Errorf("block %d: %w", n, err)
	}
	return kind, data, err
}

// lookUp finds an entry of a map that is a block. A partial map has the rest of its
// entries in another block.
func (b *blocks) lookUp(n uint32, name string) (found form, err error) {
	for hops := 0; n != 0 && hops <= len(b.at); hops++ {
		kind, data, err := b.byNumber(n)
		if err != nil {
			return form{}, err
		}
		n = 0
		switch {
		case kind == blockPartialMap && len(data) >= 4:
			n, data = binary.BigEndian.Uint32(data), data[4:]
		case kind != blockFressian:
			return form{}, fmt.Errorf("a map in a block of type %d", kind)
		}
		p := &fressian{in: data}
		code, err := p.code()
		if err == nil {
			err = p.entries(code, func(key, value form) error {
				if key.kind == keyword && key.text == name {
					found = value
				}
				return nil
			})
		}
		if err != nil || found.kind != absent {
			return found, err
		}
	}
	return form{}, nil
}

// blockNumber is that of the block that a value stands for; 0: it is none.
func (f form) blockNumber() uint32 {
	n, err := strconv.ParseUint(f.text, 10, 31)
	if f.kind != blockRef || err != nil {
		return 0
	}
	return uint32(n)
}

// operations calls one for each operation in a block of the history.
func (b *blocks) operations(n uint32, depth int, one func(p *fressian, code byte) error) error {
	if b.used[n] || depth > deepest {
		return fmt.Errorf("block %d comes twice in the history", n)
	}
	b.used[n] = true
	kind, data, err := b.byNumber(n)
	if err != nil {
		return err
	}
	p := &fressian{in: data}
	switch kind {
	case blockFressian:
		code, err := p.code()
		if err != nil {
			return err
		}
		if s, is, _ := p.structOf(code); is && s.tag == "vec" {
			if code, err = p.code(); err != nil {
				return err
			}
		}
		return p.elements(code, func(code byte) error { return one(p, code) })
	case blockStream:
		for p.at < len(p.in) {
			code, err := p.code()
			if err == nil {
				err = one(p, code)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case blockBigVector:
		return b.chunks(n, data, depth, one)
	}
	return fmt.Errorf("block %d of the history is of type %d", n, kind)
}

// chunks reads a vector that is in several blocks: how many elements there are, and of
// each block the number of its first element.
func (b *blocks) chunks(n uint32, data []byte, depth int, one func(p *fressian, code byte) error) error {
	if len(data) < 8 || (len(data)-8)%12 != 0 {
		return fmt.Errorf("block %d: a vector of %d bytes", n, len(data))
	}
	count, read := binary.BigEndian.Uint64(data), uint64(0)
	for data = data[8:]; len(data) > 0; data = data[12:] {
		if first := binary.BigEndian.Uint64(data); first != read {
			return fmt.Errorf("block %d: %d elements were read, and the next block is said to begin with element %d", n, read, first)
		}
		err := b.operations(binary.BigEndian.Uint32(data[8:]), depth+1, func(p *fressian, code byte) error {
			read++
			return one(p, code)
		})
		if err != nil {
			return err
		}
	}
	if read != count {
		return fmt.Errorf("block %d: %d elements, and it is said to have %d", n, read, count)
	}
	return nil
}

// readBlocks reads the history of a test. An operation's line is its number, which is its
// line in the history.edn that Jepsen writes beside.
func (r *Reader) readBlocks() error {
	b, err := openBlocks(r.in)
	if err != nil {
		return err
	}
	found, err := b.lookUp(b.root, "history")
	if err != nil {
		return err
	}
	if found.blockNumber() == 0 {
		return errNoHistory
	}
	n := 0
	return b.operations(found.blockNumber(), 0, func(p *fressian, code byte) error {
		n++
		p.line = n
		s := step{line: n}
		err := p.entries(code, func(name, value form) error {
			if which, other := fieldOf(name.text, r.o.Fields); which != 0 && name.kind == keyword {
				return s.set(which, name.text, other, value)
			} else if name.kind == keyword && r.notes != nil {
				s.unknown = append(s.unknown, name, value)
			}
			return nil
		})
		if err != nil {
			return err
		}
		return r.take(&s)
	})
}

// StoredVerdict is what Jepsen found of the test that is stored in a file of blocks:
// "true", "false" or "unknown"; empty: nothing is stored.
func StoredVerdict(in io.Reader) string {
	text, _, err := history.Unpack(in, looked)
	if err != nil {
		return ""
	}
	b, err := openBlocks(text)
	if err != nil {
		return ""
	}
	results, err := b.lookUp(b.root, "results")
	if err != nil || results.blockNumber() == 0 {
		return ""
	}
	valid, err := b.lookUp(results.blockNumber(), "valid?")
	if err != nil {
		return ""
	}
	return valid.text
}
