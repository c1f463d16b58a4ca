package adapter

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"
)

// Main serves on stdin and stdout until stdin ends, and ends the process.
func Main(a Adapter) {
	out := os.Stdout
	os.Stdout = os.Stderr // what a library prints is no message
	if err := Serve(a, os.Stdin, out); err != nil {
		fmt.Fprintln(os.Stderr, a.Name+":", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve answers what is asked on in until it ends.
func Serve(a Adapter, in io.Reader, out io.Writer) error {
	s := &server{Adapter: a, out: out, grants: map[string]*Grant{}, held: map[*Grant]bool{}, names: map[*Grant]string{}, early: map[*Grant][]result{}}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 4096), 64<<10)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("request %q: %w", lines.Text(), err)
		}
		if r.Do == "hello" { // before all others
			s.answer(r.ID, s.hello(r), speaks(r.Versions))
			continue
		}
		go s.serve(r)
	}
	return lines.Err()
}

type request struct {
	ID        int64
	Do        string
	Versions  []int
	Endpoints []string
	Ways      map[string]string
	Lease     int64 `json:"lease_ms"`
	Client    string
	Seed      uint64
	Key       string
	Wait      int64 `json:"wait_ms"`
	Mode      string
	Permits   int
	Want      int
	Thread    string
	Grant     string
}

type result map[string]any

type server struct {
	Adapter

	write sync.Mutex
	out   io.Writer

	mu      sync.Mutex
	session Session
	last    int
	grants  map[string]*Grant
	held    map[*Grant]bool     // of those that nobody asked to give back, or called lost
	names   map[*Grant]string   // of those whose answer is out
	early   map[*Grant][]result // events of the others: they follow the answer
}

// speaks refuses who does not speak version 1.
func speaks(versions []int) error {
	for _, v := range versions {
		if v == 1 {
			return nil
		}
	}
	return fmt.Errorf("%w: this adapter speaks version 1, not one of %v", ErrUnsupported, versions)
}

func (s *server) hello(r request) result {
	return result{"version": 1, "name": s.Name, "library": s.Library, "offers": append([]string{"concurrent"}, s.Offers...)}
}

func (s *server) serve(r request) {
	defer func() {
		if p := recover(); p != nil {
			s.answer(r.ID, nil, fmt.Errorf("panic: %v", p))
		}
	}()
	ok, err := s.do(r)
	s.answer(r.ID, ok, err)
	if name, granted := ok["grant"].(string); granted && err == nil {
		s.named(name)
	}
}

func (s *server) do(r request) (result, error) {
	s.mu.Lock()
	session, g := s.session, s.grants[r.Grant]
	s.mu.Unlock()
	if r.Do != "open" && r.Do != "ping" && session == nil {
		return result{}, closed(r.Do)
	}
	ctx := context.Background()
	switch r.Do {
	case "ping":
		return result{}, nil
	case "open":
		return result{}, s.open(ctx, r)
	case "acquire", "try":
		return s.acquire(session, r)
	case "extend":
		e, can := session.(Extender)
		if !can {
			return nil, ErrUnsupported
		}
		if g == nil {
			return nil, ErrNotHeld
		}
		if err := e.Extend(ctx, g); err != nil {
			return nil, err
		}
		return g.claims(result{}), nil
	case "release":
		if g == nil {
			return nil, ErrNotHeld
		}
		s.mu.Lock()
		delete(s.held, g)
		s.mu.Unlock()
		return result{}, session.Release(ctx, g)
	case "close":
		s.giveBack(session)
		return result{}, session.Close()
	}
	return nil, ErrUnsupported
}

// closed: what is asked of no session has certainly no effect; closing it is done.
func closed(do string) error {
	switch do {
	case "close":
		return nil
	case "acquire", "try":
		return fmt.Errorf("%w: no session is open", ErrNotGranted)
	}
	return fmt.Errorf("%w: no session is open", ErrNotHeld)
}

func (s *server) open(ctx context.Context, r request) error {
	c := Config{r.Endpoints, r.Ways, time.Duration(r.Lease) * time.Millisecond, r.Client, r.Seed}
	session, err := s.Open(ctx, c, s.tell)
	if err == nil {
		s.mu.Lock()
		s.session = session
		s.mu.Unlock()
	}
	return err
}

func (s *server) acquire(session Session, r request) (result, error) {
	a := Ask{Key: r.Key, Shared: r.Mode == "shared", Permits: r.Permits, Want: r.Want, Thread: r.Thread}
	var g *Grant
	var err error
	if t, can := session.(Trier); r.Do == "try" {
		if !can {
			return nil, ErrUnsupported
		}
		g, err = t.Try(context.Background(), a)
	} else {
		a.Wait = time.Duration(r.Wait) * time.Millisecond
		ctx, cancel := context.WithTimeout(context.Background(), a.Wait)
		defer cancel()
		g, err = session.Acquire(ctx, a)
	}
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.last++
	name := "g" + strconv.Itoa(s.last)
	s.grants[name], s.held[g] = g, true
	s.mu.Unlock()
	return g.claims(result{"grant": name}), nil
}

// claims adds what the library told of a grant.
func (g *Grant) claims(r result) result {
	if g.Token != 0 {
		r["token"] = g.Token
	}
	if g.Deadline != 0 {
		r["deadline_ns"] = g.Deadline
	}
	if g.Sent != 0 {
		r["sent_ns"] = g.Sent
	}
	return r
}

// named is called when a grant's answer is out; what was told of it meanwhile follows.
func (s *server) named(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.grants[name]
	s.names[g] = name
	for _, m := range s.early[g] {
		m["grant"] = name
		s.print(m)
	}
	delete(s.early, g)
}

// tell prints under the lock, so that events stay in order.
func (s *server) tell(event string, g *Grant, why string) {
	m := result{"event": event, "why": why, "at_ns": Monotonic()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if event == "lost" {
		delete(s.held, g)
		if g == nil {
			clear(s.held)
		}
	}
	if g != nil {
		name, known := s.names[g]
		if !known { // not yet, or it is never granted
			s.early[g] = append(s.early[g], m)
			return
		}
		m["grant"] = name
	}
	s.print(m)
}

func (s *server) answer(id int64, ok result, err error) {
	if err == nil {
		s.print(result{"id": id, "ok": ok})
		return
	}
	code := "unknown"
	for _, c := range []struct {
		is   error
		code string
	}{{ErrConfig, "config"}, {ErrUnsupported, "unsupported"}, {ErrHeld, "held"}, {ErrNotGranted, "not-granted"}, {ErrNotHeld, "not-held"}} {
		if errors.Is(err, c.is) {
			code = c.code
			break
		}
	}
	s.print(result{"id": id, "error": map[string]string{"code": code, "message": clip(err.Error())}})
}

func clip(text string) string {
	if len(text) > 1000 {
		return text[:1000]
	}
	return text
}

func (s *server) print(m result) {
	line, err := json.Marshal(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "adapter:", err) // plain data always marshals
		return
	}
	s.write.Lock()
	defer s.write.Unlock()
	_, _ = s.out.Write(append(line, '\n')) // who asked is gone: stdin ends too
}
