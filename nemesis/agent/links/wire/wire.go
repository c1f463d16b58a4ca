// Package wire tells where one message ends and the next begins in the byte
// stream of a lock service's protocol, and what each is called, so that a fault
// can be tied to a message. It is pure: bytes in, messages out. Each parser reads
// one direction of one connection from its first byte; none keeps more of a
// message than BodyMax, or changes a byte.
package wire

import "fmt"

// BodyMax is how much of a message is kept for looking into it.
const BodyMax = 4096

// Message is one complete message of a stream.
type Message struct {
	Name     string // as the protocol calls it: SET, create, Query, HEADERS
	Body     []byte // its first bytes, at most BodyMax, without framing where that is easy
	From, To int64  // the stream's bytes [From, To) are this message
}

// Parser is fed a stream in pieces of any size and returns the messages that each
// piece completes. After an error the stream is not understood and it returns no
// more messages.
type Parser interface {
	Feed(b []byte) ([]Message, error)
	Kept() int // bytes that it keeps of what it was fed, about
}

// Protocol names a protocol that links can be told to understand.
type Protocol string

// The protocols. None leaves a stream unparsed: faults can then be tied to bytes
// and counts of bytes only.
const (
	None      Protocol = ""
	Redis     Protocol = "redis"
	ZooKeeper Protocol = "zookeeper"
	Postgres  Protocol = "postgres"
	HTTP1     Protocol = "http1"
	HTTP2     Protocol = "http2" // gRPC, and with it etcd
)

// parsers makes the parser of one direction of each protocol.
var parsers = map[Protocol]func(request bool) Parser{
	Redis:     func(bool) Parser { return newResp() },
	ZooKeeper: newZooKeeper,
	Postgres:  newPostgres,
	HTTP1:     newHTTP1,
	HTTP2:     newHTTP2,
}

// New returns the parsers of one connection, client to server and back; nil for None.
func New(p Protocol) (request, answer Parser, err error) {
	if p == None {
		return nil, nil, nil
	}
	of, ok := parsers[p]
	if !ok {
		return nil, nil, fmt.Errorf("links: protocol %q is none of redis, zookeeper, postgres, http1, http2", p)
	}
	return &guarded{of: p, in: of(true)}, &guarded{of: p, in: of(false)}, nil
}

// guarded makes a parser's panic an error: what parses is the first process of its node,
// and the bytes come from code under test.
type guarded struct {
	of  Protocol
	in  Parser
	err error
}

// Feed implements Parser.
func (g *guarded) Feed(b []byte) (done []Message, err error) {
	if g.err != nil {
		return nil, g.err
	}
	defer func() {
		if r := recover(); r != nil {
			done, err = nil, fmt.Errorf("%s: the parser panicked: %v", g.of, r)
		}
		if g.err = err; err != nil {
			g.in = nil // nothing more is asked of it
		}
	}()
	return g.in.Feed(b)
}

// Kept implements Parser.
func (g *guarded) Kept() int {
	if g.in == nil {
		return 0
	}
	return g.in.Kept()
}

// frame is a message of which the length is known from its first bytes.
type frame struct {
	head int                                    // bytes that tell the length
	size func(head []byte) (total int, e error) // the whole message's length, head included; 0: the shape has changed, ask again
	name func(msg []byte) (string, []byte)      // from its first bytes, at most head+BodyMax
}

// framer cuts a stream into frames; the next frame's shape may depend on the last.
type framer struct {
	mute bool // the rest of the stream is no protocol of messages, and that is no error
	next func() frame
	got  []byte // the first bytes of the current message, at most head+BodyMax
	seen int    // bytes of it so far
	size int    // its length; 0: not known yet
	at   int64  // where it begins
	err  error
}

// Feed implements Parser.
func (f *framer) Feed(b []byte) (done []Message, err error) {
	for f.err == nil && !f.mute && len(b) > 0 {
		shape := f.next()
		want := shape.head - f.seen
		if f.size > 0 {
			want = f.size - f.seen
		}
		n := min(want, len(b))
		f.got = append(f.got, b[:min(n, max(shape.head+BodyMax-len(f.got), 0))]...)
		f.seen, b = f.seen+n, b[n:]
		if f.size == 0 && f.seen == shape.head {
			f.size, f.err = shape.size(f.got)
			if f.mute {
				return done, nil
			}
			if f.err == nil && f.size != 0 && f.size < shape.head {
				f.err = fmt.Errorf("a message of %d bytes at byte %d", f.size, f.at)
			}
		}
		if f.err == nil && f.size > 0 && f.seen == f.size {
			done = append(done, f.finish(shape))
		}
	}
	return done, f.err
}

// Kept implements Parser.
func (f *framer) Kept() int { return cap(f.got) }

func (f *framer) finish(shape frame) Message {
	m := Message{From: f.at, To: f.at + int64(f.size)}
	m.Name, m.Body = shape.name(f.got)
	f.at, f.got, f.seen, f.size = m.To, nil, 0, 0
	return m
}
