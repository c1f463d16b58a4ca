package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http2/hpack"
)

// preface is what a client sends first (RFC 9113, 3.4).
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frameTypes are HTTP/2's frames by their type byte (RFC 9113, 6).
var frameTypes = []string{"DATA", "HEADERS", "PRIORITY", "RST_STREAM", "SETTINGS",
	"PUSH_PROMISE", "PING", "GOAWAY", "WINDOW_UPDATE", "CONTINUATION"}

// h2 reads frames, and the headers in them: a link sees its connections from
// the first byte, so it has the whole state of their header compression.
type h2 struct {
	framer
	prefaced bool
	headers  *hpack.Decoder
	path     string            // of the header block being read
	paths    map[uint32]string // by stream
	known    int               // bytes of them, and what the map takes
	block    []byte            // fragments of a header block that CONTINUATION goes on with
	ended    bool              // the header block being read is all of its stream
}

// What is kept of a connection has an end, whatever its client sends.
const (
	blockMax = 1 << 20  // of a header block; Go's server takes as much
	pathMax  = 1024     // of a path, for looking into it
	pathsMax = 4096     // streams that are open at once; of more the oldest are forgotten
	tableMax = 64 << 10 // of what the compression refers to: 4 kB are usual, and a browser allows so much
	perPath  = 64       // bytes that one takes beside its own
)

// Kept implements Parser. Of the compression's table only its bound is known.
func (h *h2) Kept() int { return h.framer.Kept() + cap(h.block) + h.known + tableMax }

// forget drops the path of a stream that has ended.
func (h *h2) forget(stream uint32) {
	if path, known := h.paths[stream]; known {
		h.known -= len(path) + perPath
		delete(h.paths, stream)
	}
}

// newHTTP2 names messages by the type of their frame. The Body of a HEADERS frame
// is its :path, such as /etcdserverpb.KV/Txn; of a DATA frame the path, a line
// break, and the payload. An answer has no path, and no name but its frame's: tie
// its fault to the request. A gRPC call is a HEADERS frame and one DATA frame a
// message; all calls of a client share one connection.
func newHTTP2(request bool) Parser {
	h := &h2{prefaced: !request, paths: map[uint32]string{}}
	h.headers = hpack.NewDecoder(4096, func(f hpack.HeaderField) {
		if f.Name == ":path" {
			h.path = f.Value
		}
	})
	h.headers.SetAllowedMaxDynamicTableSize(tableMax) // the peer may have allowed more than the default
	h.next = h.shape
	return h
}

func (h *h2) shape() frame {
	if !h.prefaced {
		return frame{head: len(preface), size: func(head []byte) (int, error) {
			if string(head) != preface {
				return 0, fmt.Errorf("http2: no preface but %q: is it TLS?", head)
			}
			return len(preface), nil
		}, name: func([]byte) (string, []byte) { h.prefaced = true; return "PREFACE", nil }}
	}
	return frame{head: 9, size: func(head []byte) (int, error) {
		return 9 + int(binary.BigEndian.Uint32(append([]byte{0}, head[:3]...))), nil
	}, name: h.named}
}

func (h *h2) named(msg []byte) (string, []byte) {
	kind, flags, payload := msg[3], msg[4], msg[9:]
	stream := binary.BigEndian.Uint32(msg[5:]) & (1<<31 - 1)
	name := fmt.Sprintf("frame%d", kind)
	if int(kind) < len(frameTypes) {
		name = frameTypes[kind]
	}
	switch name {
	case "HEADERS", "CONTINUATION":
		if name == "HEADERS" {
			payload = unpad(payload, flags)
			if flags&0x20 != 0 { // PRIORITY: five bytes before the block
				payload = payload[min(5, len(payload)):]
			}
			h.block, h.ended = nil, flags&0x1 != 0
		}
		h.block = append(h.block, payload...)
		if len(h.block) > blockMax {
			h.err = fmt.Errorf("http2: headers of more than %d bytes", blockMax)
			return name, nil
		}
		if flags&0x4 == 0 { // no END_HEADERS yet
			return name, nil
		}
		h.decode(stream)
		path := []byte(h.paths[stream])
		if h.ended {
			h.forget(stream)
		}
		return "HEADERS", path
	case "DATA":
		body := append([]byte(h.paths[stream]), '\n')
		body = append(body, unpad(payload, flags)...)
		if flags&0x1 != 0 {
			h.forget(stream)
		}
		return name, body[:min(len(body), BodyMax)]
	case "RST_STREAM":
		h.forget(stream)
	}
	return name, payload
}

// decode reads a whole header block. A block that was longer than what is kept
// breaks the compression state, and with it the parser: that is said, not guessed.
func (h *h2) decode(stream uint32) {
	h.path = ""
	if _, err := h.headers.Write(h.block); err != nil {
		h.err = fmt.Errorf("http2: headers: %w", err)
	} else if err := h.headers.Close(); err != nil {
		h.err = fmt.Errorf("http2: headers: %w", err)
	}
	if h.block = nil; !strings.HasPrefix(h.path, "/") {
		return
	}
	if len(h.paths) >= pathsMax { // the server has reset them, which this direction does not show
		h.forget(slices.Min(slices.Collect(maps.Keys(h.paths))))
	}
	h.forget(stream)
	h.paths[stream] = strings.Clone(h.path[:min(len(h.path), pathMax)])
	h.known += len(h.paths[stream]) + perPath
}

// unpad takes the padding off a payload whose PADDED flag is set. Of a long
// payload only the beginning is here, so the padding's end may be missing already.
func unpad(payload []byte, flags byte) []byte {
	if flags&0x8 == 0 || len(payload) == 0 {
		return payload
	}
	pad := int(payload[0])
	return bytes.Clone(payload[1:max(1, len(payload)-pad)])
}
