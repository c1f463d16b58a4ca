package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unicode"
)

// opcodes are ZooKeeper's request types (ZooDefs.OpCode).
var opcodes = map[int32]string{
	0: "notification", 1: "create", 2: "delete", 3: "exists", 4: "getData", 5: "setData", 6: "getACL",
	7: "setACL", 8: "getChildren", 9: "sync", 11: "ping", 12: "getChildren2", 13: "check", 14: "multi",
	15: "create2", 16: "reconfig", 17: "checkWatches", 18: "removeWatches", 19: "createContainer",
	20: "deleteContainer", 21: "createTTL", 22: "multiRead", 100: "auth", 101: "setWatches",
	102: "sasl", 103: "getEphemerals", 104: "getAllChildrenNumber", 105: "setWatches2",
	106: "addWatch", 107: "whoAmI", -10: "createSession", -11: "closeSession", -1: "error",
}

// packetMax is far above jute.maxbuffer (1 MB); more is no ZooKeeper stream.
const packetMax = 64 << 20

// newZooKeeper frames jute packets: a length, then of a request its xid and type,
// of an answer its xid, zxid and error. Each stream begins with a packet that has
// neither, "connect". Answers are "reply", or "notification" and "ping" by their
// xid; a reply does not say what it answers. Body is the packet after its length. A
// connection that begins with a four-letter word, such as srvr, or with its answer, is
// text to its end and has no messages.
func newZooKeeper(request bool) Parser {
	first := true
	f := &framer{}
	f.next = func() frame {
		return frame{
			head: 4,
			size: func(head []byte) (int, error) {
				n := binary.BigEndian.Uint32(head)
				if f.mute = first && isWord(head); f.mute {
					return 0, nil
				}
				if n > packetMax {
					return 0, fmt.Errorf("zookeeper: a packet of %d bytes", n)
				}
				return 4 + int(n), nil
			},
			name: func(msg []byte) (string, []byte) {
				body := msg[4:]
				if first {
					first = false
					return "connect", body
				}
				if request {
					return opcode(body), body
				}
				return reply(body), body
			},
		}
	}
	return f
}

// isWord says whether a length is text: as a number it is far above packetMax.
func isWord(b []byte) bool {
	return !bytes.ContainsFunc(b, func(r rune) bool { return !unicode.IsLetter(r) || r > unicode.MaxASCII })
}

func opcode(body []byte) string {
	if len(body) < 8 {
		return "short"
	}
	op := int32(binary.BigEndian.Uint32(body[4:]))
	if name, ok := opcodes[op]; ok {
		return name
	}
	return fmt.Sprintf("opcode%d", op)
}

func reply(body []byte) string {
	if len(body) < 4 {
		return "short"
	}
	switch int32(binary.BigEndian.Uint32(body)) {
	case -1:
		return "notification"
	case -2:
		return "ping"
	}
	return "reply"
}
