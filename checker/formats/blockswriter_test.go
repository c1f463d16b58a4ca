package formats

import (
	"encoding/binary"
	"hash/crc32"
	"unicode/utf16"
)

// fressianOut writes Fressian by its specification, with its caches.
type fressianOut struct {
	b       []byte
	objects map[string]int
	structs map[string]int
}

// What is written beside strings, truth values, whole numbers and nil.
type (
	keywordOut string
	refOut     int64
	mapOut     []any // names and values in turns
	entryOut   [2]any
	opOut      struct {
		index, time, process int64
		typ, f               string
		value                any
		rest                 mapOut
	}
)

func (w *fressianOut) int(n int64) {
	if n == -1 {
		w.b = append(w.b, 0xFF)
		return
	}
	if n >= 0 && n < 64 {
		w.b = append(w.b, byte(n))
		return
	}
	for k, c := range []struct{ zero, half int64 }{{0x50, 16}, {0x68, 8}, {0x72, 2}, {0x76, 2}, {0x7A, 2}, {0x7E, 2}} {
		if high := n >> (8 * (k + 1)); high >= -c.half && high < c.half {
			w.b = append(w.b, byte(c.zero+high))
			w.raw(uint64(n), k+1)
			return
		}
	}
	w.b = append(w.b, 0xF8)
	w.raw(uint64(n), 8)
}

func (w *fressianOut) raw(n uint64, bytes int) {
	w.b = append(w.b, binary.BigEndian.AppendUint64(nil, n)[8-bytes:]...)
}

func (w *fressianOut) string(s string) {
	var text []byte
	for _, u := range utf16.Encode([]rune(s)) {
		switch {
		case u < 0x80:
			text = append(text, byte(u))
		case u < 0x800:
			text = append(text, byte(0xC0|u>>6), byte(0x80|u&0x3F))
		default:
			text = append(text, byte(0xE0|u>>12), byte(0x80|u>>6&0x3F), byte(0x80|u&0x3F))
		}
	}
	if len(text) < 8 {
		w.b = append(w.b, byte(0xDA+len(text)))
	} else {
		w.b = append(w.b, 0xE3)
		w.int(int64(len(text)))
	}
	w.b = append(w.b, text...)
}

// once writes an object, or its number if it was written before.
func (w *fressianOut) once(name string, write func()) {
	if i, known := w.objects[name]; known && i < 32 {
		w.b = append(w.b, byte(0x80+i))
		return
	} else if known {
		w.b = append(w.b, 0xCC)
		w.int(int64(i))
		return
	}
	if w.objects == nil {
		w.objects = map[string]int{}
	}
	w.objects[name] = len(w.objects)
	w.b = append(w.b, 0xCD)
	write()
}

func (w *fressianOut) tag(tag string, fields int64) {
	if i, known := w.structs[tag]; known {
		w.b = append(w.b, byte(0xA0+i))
		return
	}
	if w.structs == nil {
		w.structs = map[string]int{}
	}
	w.structs[tag] = len(w.structs)
	w.b = append(w.b, 0xEF)
	w.string(tag)
	w.int(fields)
}

func (w *fressianOut) list(items []any) {
	if len(items) < 8 {
		w.b = append(w.b, byte(0xE4+len(items)))
	} else {
		w.b = append(w.b, 0xEC)
		w.int(int64(len(items)))
	}
	for _, item := range items {
		w.value(item)
	}
}

func (w *fressianOut) value(v any) {
	switch v := v.(type) {
	case nil:
		w.b = append(w.b, 0xF7)
	case bool:
		w.b = append(w.b, map[bool]byte{true: 0xF5, false: 0xF6}[v])
	case int64:
		w.int(v)
	case string:
		w.string(v)
	case keywordOut:
		w.once(":"+string(v), func() {
			w.b = append(w.b, 0xCA, 0xF7)
			w.once(string(v), func() { w.string(string(v)) })
		})
	case []any:
		w.list(v)
	case mapOut:
		w.b = append(w.b, 0xC0)
		w.list(v)
	case entryOut:
		w.tag("map-entry", 2)
		w.value(v[0])
		w.value(v[1])
	case refOut:
		w.tag("block-ref", 1)
		w.int(int64(v))
	case opOut:
		w.tag("jepsen.history.Op", 7)
		w.int(v.index)
		w.int(v.time)
		w.value(keywordOut(v.typ))
		w.int(v.process)
		w.value(keywordOut(v.f))
		w.value(v.value)
		w.value(v.rest)
	default:
		panic(v)
	}
}

// blocksOut writes a file of blocks; header is how many bytes each begins with.
type blocksOut struct {
	b      []byte
	header int
	at     []byte // of the index
}

func newBlocksOut(header int) *blocksOut {
	return &blocksOut{b: append([]byte("JEPSEN"), make([]byte, 12)...), header: header}
}

// add writes the block of a number.
func (w *blocksOut) add(n uint32, kind uint16, data []byte) {
	w.at = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(w.at, n), uint64(len(w.b)))
	w.put(kind, data)
}

func (w *blocksOut) put(kind uint16, data []byte) {
	header := make([]byte, w.header)
	binary.BigEndian.PutUint64(header, uint64(w.header+len(data)))
	binary.BigEndian.PutUint16(header[12:], kind)
	sum := crc32.Update(crc32.ChecksumIEEE(data), crc32.IEEETable, header)
	binary.BigEndian.PutUint32(header[8:], sum)
	w.b = append(append(w.b, header...), data...)
}

// end writes the index, and where it is.
func (w *blocksOut) end(root uint32) []byte {
	offset := len(w.b)
	w.put(1, append(binary.BigEndian.AppendUint32(nil, root), w.at...))
	binary.BigEndian.PutUint32(w.b[6:], 1)
	binary.BigEndian.PutUint64(w.b[10:], uint64(offset))
	return w.b
}

// storedTest is a test with its history in chunks, and its results.
func storedTest(header, chunk int, history []any, valid any) []byte {
	w := newBlocksOut(header)
	vector := binary.BigEndian.AppendUint64(nil, uint64(len(history)))
	for i := 0; i < len(history); i += chunk {
		var stream fressianOut
		for _, op := range history[i:min(i+chunk, len(history))] {
			stream.value(op)
		}
		n := uint32(10 + i)
		w.add(n, 4, stream.b)
		vector = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(vector, uint64(i)), n)
	}
	w.add(1, 5, vector)
	partial := func(n, rest uint32, m mapOut) {
		var f fressianOut
		f.value(m)
		w.add(n, 3, append(binary.BigEndian.AppendUint32(nil, rest), f.b...))
	}
	partial(5, 0, mapOut{keywordOut("perf"), mapOut{keywordOut("valid?"), true}})
	partial(4, 5, mapOut{keywordOut("valid?"), valid})
	partial(2, 0, mapOut{keywordOut("name"), "a test with a long name", keywordOut("history"), refOut(1), keywordOut("results"), refOut(4)})
	return w.end(2)
}
