package agent

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/loopback"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// playClient sends one request after the other to a server at addr, passes a checkpoint
// before each, and tells what became of it.
func playClient(addr string) {
	passed, armed := make(chan int), make(chan bool, 100)
	go func() {
		orders := json.NewDecoder(os.Stdin)
		for {
			var o Order
			if orders.Decode(&o) != nil {
				os.Exit(0)
			}
			if o.Armed != nil {
				armed <- len(*o.Armed) > 0
			}
			if o.Go > 0 {
				passed <- o.Go
			}
		}
	}()
	var conn net.Conn
	var answers *bufio.Reader
	stop := false
	for n := 1; ; n++ {
		time.Sleep(2 * time.Millisecond)
		for len(armed) > 0 {
			stop = <-armed
		}
		owner := fmt.Sprintf("o%d", n)
		if stop {
			fmt.Printf(`{"checkpoint":{"id":%d,"checkpoint":"writing","key":"k","owner":%q}}`+"\n", n, owner)
			for <-passed != n {
			}
		}
		say := func(t history.Type) {
			fmt.Printf(`{"op":{"type":%q,"f":"write","owner":%q,"time":%d}}`+"\n", t, owner, history.Raw())
		}
		say(history.Invoke)
		var err error
		if conn == nil {
			if conn, err = net.Dial("tcp", addr); err == nil {
				answers = bufio.NewReader(conn)
			}
		}
		if err == nil {
			_, err = fmt.Fprintf(conn, "SET %s x\r\n", owner)
		}
		if err == nil {
			_, err = answers.ReadString('\n')
		}
		if err != nil {
			if conn != nil {
				_ = conn.Close()
			}
			conn = nil
			say(history.Info)
			continue
		}
		say(history.OK)
	}
}

// server answers each line with itself, and knows which have come.
type server struct {
	addr string
	mu   sync.Mutex
	got  []string
}

func (s *server) has(line string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Contains(s.got, line)
}

func (s *server) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got)
}

func startServer(t *testing.T) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	s := &server{addr: l.Addr().String()}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go s.serve(conn)
		}
	}()
	return s
}

func (s *server) serve(conn net.Conn) {
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		s.mu.Lock()
		s.got = append(s.got, strings.TrimSpace(line))
		s.mu.Unlock()
		_, _ = io.WriteString(conn, line)
	}
}

// linked starts a client whose way to a server is a link.
func linked(t *testing.T) (*remote, *server, *Child) {
	t.Helper()
	s, r, at := startServer(t), startAgent(t), loopback.Free(t)
	c := &Child{Argv: []string{os.Args[0]}, Env: []string{"AGENT_TEST_CLIENT=" + at}, Speaks: true,
		Links: []Link{{Name: "s", Upstream: s.addr, Protocol: wire.Redis, Listen: at}, {Name: "other", Upstream: s.addr, Listen: "127.0.0.1:0"}}}
	if m := r.do(Command{Do: Start, Child: c}); m.Error != "" {
		t.Fatal(m.Error)
	}
	r.next(history.OK)
	return r, s, c
}

// next waits for the next operation of a type that the client tells of, from now on.
func (r *remote) next(want history.Type) history.Op { return r.since(history.Raw(), want) }

// since waits for the next operation of a type that the client tells of, from at on.
func (r *remote) since(at int64, want history.Type) history.Op {
	r.t.Helper()
	var found history.Op
	r.until(func(m Message) bool {
		var op history.Op
		if m.Op == nil || json.Unmarshal(m.Op, &op) != nil || op.Type != want || op.Time < at {
			return false
		}
		found = op
		return true
	})
	return found
}

// proven waits for the proof of fault 1, and wants it to be one with some words.
func (r *remote) proven(words string) {
	r.t.Helper()
	r.until(func(m Message) bool {
		var op history.Op
		if m.Op == nil || json.Unmarshal(m.Op, &op) != nil || op.Fault == nil || op.Fault.Proof == "" || op.Fault.Phase == history.Heal {
			return false
		}
		if op.Fault.Phase != history.Observed || !strings.Contains(op.Fault.Proof, words) {
			r.t.Errorf("%s, proof %q, want %q in it", op.Fault.Phase, op.Fault.Proof, words)
		}
		return true
	})
}

// linkCases are the kinds, what the victim sees while each is in force, and words of
// the proof.
var linkCases = []struct {
	kind   string
	how    LinkFault
	during history.Type // that the client then tells of
	proof  string
}{
	{"latency", LinkFault{RTT: 40 * time.Millisecond, Jitter: 10 * time.Millisecond}, history.OK, "a round trip takes"},
	{"bandwidth", LinkFault{Rate: 500}, history.OK, "bytes"},
	{"reset", LinkFault{}, history.Info, "connections"},
	{"blackhole", LinkFault{}, history.Invoke, "bytes"},
	{"hold-request", LinkFault{}, history.Invoke, "the first held for"},
	{"hold-answer", LinkFault{}, history.Invoke, "the first held for"},
	{"hold-request", LinkFault{When: links.When{Name: "set"}}, history.Invoke, `at "SET"`},
	{"hold-answer", LinkFault{When: links.When{Contains: "SET"}}, history.Invoke, `at "SET"`},
	{"cut-link", LinkFault{When: links.When{Name: "SET", Skip: 2, After: true}}, history.Info, `at "SET"`},
}

// Each fault of links happens to a real client, is proven, and heals.
func TestLinkFaults(t *testing.T) {
	for i, c := range linkCases {
		t.Run(fmt.Sprint(i, " ", c.kind), func(t *testing.T) {
			r, _, _ := linked(t)
			c.how.To = []string{"s"}
			arm := Arm{Fault: 1, Kind: c.kind, Min: 500 * time.Millisecond, Max: time.Minute, Limit: time.Minute, Params: Params{Link: &c.how}}
			if m := r.do(Command{Do: Inject, Arm: &arm}); m.Error != "" {
				t.Fatal(m.Error)
			}
			begin := r.fault(1, history.Begin)
			if whole := strings.HasPrefix(c.kind, "hold-") && c.how.When.Now(); begin.Fault.Whole != whole {
				t.Errorf("begun as a fault of whole links: %v, want %v", begin.Fault.Whole, whole)
			}
			if !c.how.When.Now() {
				if hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit; hit.At != begin.Time {
					t.Errorf("hit at %d, begun at %d", hit.At, begin.Time)
				}
			}
			if c.during != history.Invoke {
				r.since(begin.Time, c.during)
			}
			r.do(Command{Do: Heal, Fault: 1})
			r.proven(c.proof)
			r.fault(1, history.Heal)
			r.next(history.OK)
		})
	}
}

// A fault of links that does nothing is not believed, and does nothing.
func TestLinkFaultsThatLie(t *testing.T) {
	for i, c := range linkCases {
		t.Run(fmt.Sprint(i, " ", c.kind), func(t *testing.T) {
			r, _, _ := linked(t)
			c.how.To = []string{"s"}
			arm := Arm{Fault: 1, Kind: c.kind, Max: time.Minute, Limit: time.Minute, Lie: true, Params: Params{Link: &c.how}}
			r.do(Command{Do: Inject, Arm: &arm})
			r.fault(1, history.Begin)
			for range 10 {
				r.next(history.OK)
			}
			r.do(Command{Do: Heal, Fault: 1})
			missed := r.fault(1, history.Missed)
			t.Log(missed.Fault.Proof)
			r.fault(1, history.Heal)
		})
	}
}

// The delayed packet: the client is not held at its checkpoint, its link is.
func TestRequestIsHeldFromTheCheckpointOn(t *testing.T) {
	r, s, _ := linked(t)
	arm := Arm{Fault: 1, Checkpoint: "writing", Kind: "hold-request", Max: time.Minute, Params: Params{Link: &LinkFault{To: []string{"s"}}, Cut: []string{"s"}}}
	r.do(Command{Do: ArmCheckpoint, Arm: &arm})
	hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit
	if hit.Key != "k" || hit.Error != "" {
		t.Fatalf("hit %+v", hit)
	}
	r.write(hit.Owner) // invoked, in the middle of the fault
	time.Sleep(100 * time.Millisecond)
	if s.has("SET " + hit.Owner + " x") {
		t.Error("the request has passed")
	}
	r.do(Command{Do: Heal, Fault: 1})
	if heal := r.fault(1, history.Heal); !slices.Equal(heal.Fault.Cut, []string{"s"}) {
		t.Errorf("the history does not say from whom: %+v", heal.Fault)
	}
	if op := r.write(hit.Owner); op.Type != history.OK || !s.has("SET "+hit.Owner+" x") {
		t.Errorf("what was held is not delivered: %+v", op)
	}
}

// A message after a checkpoint has the checkpoint's grant, by which it is known who else acts.
func TestMessageAfterACheckpoint(t *testing.T) {
	r, _, _ := linked(t)
	arm := Arm{Fault: 1, Checkpoint: "writing", Kind: "hold-answer", Min: 500 * time.Millisecond, Max: time.Minute, Limit: time.Minute,
		Params: Params{Link: &LinkFault{To: []string{"other", "s"}, When: links.When{Contains: "SET"}}}}
	r.do(Command{Do: ArmCheckpoint, Arm: &arm})
	hit := r.until(func(m Message) bool { return m.Hit != nil }).Hit
	if begin := r.fault(1, history.Begin); hit.Owner == "" || hit.At != begin.Time {
		t.Errorf("hit %+v, begun %+v", hit, begin)
	}
	r.do(Command{Do: Heal, Fault: 1})
	r.proven(`s: hold-answer`)
}

func TestMessageThatNeverComesIsMissed(t *testing.T) {
	r, _, _ := linked(t)
	how := LinkFault{To: []string{"s"}, When: links.When{Name: "GET"}}
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "hold-answer", Max: time.Minute, Limit: 50 * time.Millisecond, Params: Params{Link: &how}}})
	if missed := r.fault(1, history.Missed); !strings.Contains(missed.Fault.Proof, "no such message") {
		t.Errorf("%+v", missed.Fault)
	}
	r.until(func(m Message) bool { return m.Over != nil })
}

// A client whose messages cannot be read any more: what it says still arrives, the fault
// that waits for a message there says why it never came, and the history has it.
func TestUnparsedLinkIsSaid(t *testing.T) {
	r, s, c := linked(t)
	how := LinkFault{To: []string{"s"}, When: links.When{Name: "GET"}}
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "hold-answer", Max: time.Minute, Limit: time.Second, Params: Params{Link: &how}}})
	conn, err := net.Dial("tcp", c.Links[0].Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, line := range []string{"   ", "*x", "GET k"} {
		if _, err := io.WriteString(conn, line+"\r\n"); err != nil {
			t.Fatal(err)
		}
	}
	if missed := r.fault(1, history.Missed); !strings.Contains(missed.Fault.Proof, "no such message") || !strings.Contains(missed.Fault.Proof, `s is not understood: redis: length "x"`) {
		t.Errorf("%+v", missed.Fault)
	}
	r.until(func(m Message) bool { return m.Over != nil })
	if !s.has("GET k") {
		t.Error("what was not understood did not arrive")
	}
	noted := false
	for _, m := range r.seen {
		noted = noted || strings.Contains(string(m.Op), `"f":"unparsed"`) && strings.Contains(string(m.Op), "the link to s is not understood")
	}
	if !noted {
		t.Error("the history does not say that the link was not understood")
	}
}

// Another client was the first: this one's fault leaves no trace.
func TestMessageThatIsCalledOff(t *testing.T) {
	r, _, _ := linked(t)
	how := LinkFault{To: []string{"s"}, When: links.When{Name: "GET"}}
	r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "cut-link", Max: time.Minute, Limit: time.Minute, Params: Params{Link: &how}}})
	r.do(Command{Do: Cancel, Fault: 1})
	r.until(func(m Message) bool { return m.Over != nil })
	for _, m := range r.seen {
		if strings.Contains(string(m.Op), `"fault"`) {
			t.Errorf("%s", m.Op)
		}
	}
	r.next(history.OK)
}

// A link bears one fault of a kind, and a node as many as it has links.
func TestLinkFaultsOfOneKind(t *testing.T) {
	r, _, _ := linked(t)
	slow := func(id int, to string) Message {
		return r.do(Command{Do: Inject, Arm: &Arm{Fault: id, Kind: "latency", Max: time.Minute, Params: Params{Link: &LinkFault{To: []string{to}, RTT: time.Millisecond}}}})
	}
	if m := slow(1, "s"); m.Error != "" {
		t.Error(m.Error)
	}
	if m := slow(2, "other"); m.Error != "" {
		t.Error(m.Error)
	}
	if m := slow(3, "s"); !strings.Contains(m.Error, "already") {
		t.Errorf("a second latency of one link: %+v", m)
	}
	if m := slow(4, "nowhere"); !strings.Contains(m.Error, `no link "nowhere"`) {
		t.Errorf("a link that is not there: %+v", m)
	}
}

func TestLinksOutliveTheChild(t *testing.T) {
	r, _, c := linked(t)
	r.do(Command{Do: Kill})
	if m := r.do(Command{Do: Start, Child: c}); m.Error != "" {
		t.Fatal(m.Error)
	}
	r.next(history.OK)
}

func TestLinkFaultWithoutLinks(t *testing.T) {
	r := startAgent(t)
	r.do(Command{Do: Start, Child: worker()})
	if m := r.do(Command{Do: Inject, Arm: &Arm{Fault: 1, Kind: "reset", Max: time.Minute, Params: Params{Link: &LinkFault{To: []string{"s"}}}}}); !strings.Contains(m.Error, "not started with links") {
		t.Errorf("%+v", m)
	}
}
