package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// What the type bytes of PostgreSQL's protocol 3 mean, by direction
// (postgresql.org, "Message Formats"); others are named by the byte itself.
var (
	fromFrontend = map[byte]string{'Q': "Query", 'P': "Parse", 'B': "Bind", 'D': "Describe", 'E': "Execute",
		'S': "Sync", 'C': "Close", 'H': "Flush", 'X': "Terminate", 'p': "Password", 'F': "FunctionCall",
		'd': "CopyData", 'c': "CopyDone", 'f': "CopyFail"}
	fromBackend = map[byte]string{'R': "Authentication", 'S': "ParameterStatus", 'K': "BackendKeyData",
		'Z': "ReadyForQuery", 'T': "RowDescription", 'D': "DataRow", 'C': "CommandComplete",
		'E': "ErrorResponse", 'N': "NoticeResponse", 'A': "NotificationResponse", 'I': "EmptyQueryResponse",
		'1': "ParseComplete", '2': "BindComplete", '3': "CloseComplete", 'n': "NoData", 's': "PortalSuspended",
		't': "ParameterDescription", 'G': "CopyInResponse", 'H': "CopyOutResponse", 'd': "CopyData", 'c': "CopyDone"}
)

// The first words of a connection that are no startup.
const (
	sslRequest    = 80877103
	gssRequest    = 80877104
	cancelRequest = 80877102
)

// postgres knows whether the connection has started up.
type postgres struct {
	framer
	request bool
	started bool
}

// newPostgres frames a type byte and a length. Before that a client sends
// untyped packets: "startup", "ssl", "gss" or "cancel", and a server answers ssl
// and gss with a single byte, "N". After "S" all is encrypted, which is an error
// here: use sslmode=disable on a link. Body is the message after its length: SQL
// text in a Query, a statement's name and its text in a Parse.
func newPostgres(request bool) Parser {
	p := &postgres{request: request}
	p.next = p.shape
	return p
}

// shape is what the next message looks like.
func (p *postgres) shape() frame {
	switch {
	case p.started:
		return frame{head: 5, size: typed, name: p.named}
	case p.request:
		return frame{head: 4, size: untyped, name: p.startup}
	}
	return frame{head: 1, size: p.firstAnswer, name: func(msg []byte) (string, []byte) {
		return string(msg[:1]), nil
	}}
}

func typed(head []byte) (int, error) {
	n := binary.BigEndian.Uint32(head[1:])
	if n < 4 || n > 1<<30 {
		return 0, fmt.Errorf("postgres: a message %q of %d bytes", head[0], n)
	}
	return 1 + int(n), nil
}

func untyped(head []byte) (int, error) {
	n := binary.BigEndian.Uint32(head)
	if n < 8 || n > 10000 { // the server's own limit for a startup packet
		return 0, fmt.Errorf("postgres: a first packet of %d bytes", n)
	}
	return int(n), nil
}

// firstAnswer tells the single byte that answers ssl or gss from a first message:
// no message from a server begins with either letter before authentication but
// Error and Authentication.
func (p *postgres) firstAnswer(head []byte) (int, error) {
	switch head[0] {
	case 'N':
		return 1, nil
	case 'S', 'G':
		return 0, errors.New("postgres: the stream is encrypted from here on")
	}
	p.started = true // and this byte was the type of a typed message
	return 0, nil
}

func (p *postgres) startup(msg []byte) (string, []byte) {
	body := msg[4:]
	switch binary.BigEndian.Uint32(body) {
	case sslRequest:
		return "ssl", nil
	case gssRequest:
		return "gss", nil
	case cancelRequest:
		return "cancel", body
	}
	p.started = true
	return "startup", body
}

func (p *postgres) named(msg []byte) (string, []byte) {
	names := fromBackend
	if p.request {
		names = fromFrontend
	}
	if name, ok := names[msg[0]]; ok {
		return name, msg[5:]
	}
	return string(msg[:1]), msg[5:]
}
