package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// session is a lock whose session lives as long as its connection to a server, and for a
// lease after. What is locked is a file, which it gives up by itself when the lease ends:
// that is the server's part.
type session struct {
	files
	addr string
	tell adapter.Tell

	mu     sync.Mutex
	grants map[*adapter.Grant]bool
	gone   bool // its lease has ended without a connection
	said   bool
	down   bool // it has no connection
}

// netDir is where the adapters of one test lock their files.
const netDir = "DLMTEST_TEST_CONFORM_DIR"

func serveNet(way string) {
	offers := []string{"try", "wait", "lease", "renews", "events"}
	switch way {
	case "unoffered":
		offers = offers[:4]
	case "no-wait":
		offers = []string{"lease", "renews", "events"}
	case "no-limit":
		offers = []string{"events"}
	case "unrenewed": // it cannot know
		offers = []string{"wait", "lease", "events"}
	}
	adapter.Main(adapter.Adapter{Name: "net", Library: "1", Offers: offers,
		Open: func(_ context.Context, c adapter.Config, tell adapter.Tell) (adapter.Session, error) {
			s := &session{files: files{os.Getenv(netDir), way, c.Lease}, addr: c.Endpoints[0], tell: tell, grants: map[*adapter.Grant]bool{}}
			switch way {
			case "elsewhere": // it knows another way to its servers
				_, _ = net.Dial("tcp", s.addr)
			case "no-connection":
			default:
				conn, err := net.Dial("tcp", s.addr)
				if err != nil {
					return nil, err
				}
				go s.watch(conn)
			}
			return s, nil
		}})
}

// watch tells what becomes of the connection.
func (s *session) watch(conn net.Conn) {
	if s.way == "resumes-first" {
		s.tell("resumed", nil, "connected")
	}
	for {
		_, _ = io.Copy(io.Discard, conn)
		s.mu.Lock()
		s.down = true
		s.mu.Unlock()
		if s.way != "silent" {
			s.tell("suspended", nil, "connection lost")
		}
		if s.way == "suspends-twice" {
			s.tell("suspended", nil, "connection lost")
		}
		if s.way == "hasty" {
			s.end()
		}
		expiry := time.AfterFunc(s.lease, s.end)
		conn = s.again()
		expiry.Stop()
		s.connected()
	}
}

func (s *session) again() net.Conn {
	for {
		time.Sleep(20 * time.Millisecond)
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(eventually.Most))
		if _, err := conn.Read(make([]byte, 1)); err == nil { // the server's greeting: a cut link has none
			_ = conn.SetReadDeadline(time.Time{})
			return conn
		}
		_ = conn.Close()
	}
}

// end is the service's: what was held is free.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = true
	for g := range s.grants {
		_ = g.State.(locked).close()
		delete(s.grants, g)
	}
}

func (s *session) connected() {
	s.mu.Lock()
	gone := s.gone
	s.gone, s.down = false, false
	s.mu.Unlock()
	switch {
	case s.way == "silent", s.way == "never-heals":
	case gone && s.way != "never-lost" && s.way != "hasty" && s.way != "unrenewed":
		s.tell("lost", nil, "session over")
	default:
		s.tell("resumed", nil, "connected again")
	}
}

func (s *session) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	return s.keep(s.files.Try(ctx, a))
}

func (s *session) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	s.mu.Lock()
	down := s.down
	s.mu.Unlock()
	if down {
		return nil, errors.New("no connection")
	}
	return s.keep(s.files.Acquire(ctx, a))
}

func (s *session) keep(g *adapter.Grant, err error) (*adapter.Grant, error) {
	if err == nil {
		s.mu.Lock()
		s.grants[g] = true
		s.mu.Unlock()
		s.lie()
	}
	return g, err
}

// lie prints an event that cannot be so, once.
func (s *session) lie() {
	line := map[string]string{
		"unoffered": `{"event":"lost"}`,
		"unknown":   `{"event":"lost","grant":"g99"}`,
		"ahead":     fmt.Sprintf(`{"event":"lost","at_ns":%d}`, adapter.Monotonic()+int64(time.Hour)),
		"in-ms":     fmt.Sprintf(`{"event":"lost","at_ns":%d}`, adapter.Monotonic()/1e6),
		"back":      `{"event":"lost"}` + "\n" + `{"event":"resumed"}`,
	}[s.way]
	if line != "" && !s.said {
		s.said = true
		_, _ = os.NewFile(1, "stdout").WriteString(line + "\n")
	}
}

func (s *session) Release(ctx context.Context, g *adapter.Grant) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.grants[g] {
		return adapter.ErrNotHeld
	}
	delete(s.grants, g)
	if s.way == "after-release" { // its own release looks to it like a loss
		time.AfterFunc(50*time.Millisecond, func() { s.tell("lost", g, "the key is gone") })
		defer time.Sleep(time.Millisecond)
	}
	return s.files.Release(ctx, g)
}

// greeter is a server that greets, and keeps connections open.
func greeter(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = c.Write([]byte("!")); _, _ = io.Copy(io.Discard, c); _ = c.Close() }()
		}
	}()
	return l.Addr().String()
}

func asked(t *testing.T, way string) Report {
	t.Helper()
	cmd := command("net-" + way)
	cmd.Env = append(cmd.Env, netDir+"="+t.TempDir())
	return Run(t.Context(), cmd, locks.Config{Endpoints: []string{greeter(t)}, Lease: 800 * time.Millisecond, Client: "c"})
}

// Each mistake in what an adapter tells of its session is found by the check that is
// about it, in words that name it.
func TestEvents(t *testing.T) {
	for way, want := range map[string][2]string{
		"sound":          {},
		"no-wait":        {},
		"no-limit":       {},
		"unrenewed":      {},
		"silent":         {"cut", "told neither suspended nor lost"},
		"never-lost":     {"cut", "another adapter was granted its key meanwhile, and 5.2s after the heal it had told suspended, resumed, and not lost"},
		"no-connection":  {"cut", "connect to those"},
		"never-heals":    {"heal", "neither resumed nor lost"},
		"hasty":          {"heal", "told resumed, and another adapter was granted"},
		"unoffered":      {"events", "hello does not offer events"},
		"unknown":        {"events", `told lost of the grant "g99", which it has not granted`},
		"after-release":  {"events", "after its release was answered"},
		"ahead":          {"events", "from now: it is by CLOCK_MONOTONIC"},
		"in-ms":          {"events", "before the adapter was started: it is by CLOCK_MONOTONIC"},
		"resumes-first":  {"events", "told resumed of the session, which was not suspended"},
		"back":           {"events", "after lost: what is lost stays lost"},
		"suspends-twice": {"events", "twice, with nothing between"},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			r := asked(t, way)
			said := false
			for _, f := range r.Findings {
				t.Log(f.Check+":", f.Problem)
				said = said || f.Check == want[0] && strings.Contains(f.Problem, want[1]) && f.Todo+f.About != ""
			}
			if said != (want[0] != "") || want[0] == "" && len(r.Findings) > 0 {
				t.Errorf("want %q of %s: %+v", want[1], want[0], r.Findings)
			}
			if len(r.NotAsked) > 0 {
				t.Errorf("not asked: %+v", r.NotAsked)
			}
		})
	}
}

// What cannot be cut is no mistake, and is said.
func TestCannotBeCut(t *testing.T) {
	if r := asked(t, "elsewhere"); len(r.Findings) > 0 || len(r.NotAsked) != 1 || r.NotAsked[0].Check != "cut" {
		t.Errorf("%+v", r)
	}
	for _, endpoint := range []string{"/run/server.sock", "http://somewhere"} {
		if _, _, err := linkTo(endpoint); err == nil || !strings.Contains(err.Error(), "no host:port") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	l, by, err := linkTo("http://192.0.2.7:8080/api")
	if err != nil || l.to != "192.0.2.7:8080" || by != "http://"+l.in.Addr().String()+"/api" {
		t.Errorf("%+v %s %v", l, by, err)
	}
	l.close()
}

// An event that names a grant after it was answered is no mistake, and one after close is
// about the close.
func TestEar(t *testing.T) {
	e := newEar()
	if e.stop(); e.deaf != true {
		t.Error("it still listens")
	}
	e.hear(&protocol.Conn{}, protocol.Event{Event: lost})
	if e.count() != 0 {
		t.Error("it heard what was told at its close")
	}
}
