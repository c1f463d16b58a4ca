package conform

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

// link leads one adapter to one server, and can be cut.
type link struct {
	in *net.TCPListener
	to string // host:port of the server

	mu    sync.Mutex
	off   bool
	conns map[net.Conn]bool
	used  int // connections that were led to the server
}

func newLink(to string) (*link, error) {
	in, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	l := &link{in: in, to: to, conns: map[net.Conn]bool{}}
	go l.serve()
	return l, nil
}

func (l *link) serve() {
	for {
		c, err := l.in.Accept()
		if err != nil {
			return
		}
		go l.lead(c)
	}
}

// lead carries bytes both ways until one side ends, or the link is cut.
func (l *link) lead(near net.Conn) {
	far, err := net.Dial("tcp", l.to)
	if err != nil {
		_ = near.Close()
		return
	}
	if !l.enter(near, far) {
		return
	}
	go func() { _, _ = io.Copy(far, near); l.leave(near, far) }()
	_, _ = io.Copy(near, far)
	l.leave(near, far)
}

// enter: while the link is cut nobody gets through.
func (l *link) enter(near, far net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.off {
		_, _ = near.Close(), far.Close()
		return false
	}
	l.conns[near], l.conns[far] = true, true
	l.used++
	return true
}

func (l *link) leave(conns ...net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(l.conns, c)
	}
}

// turn cuts the link or heals it. What is under way is lost.
func (l *link) turn(off bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.off = off
	for c := range l.conns {
		_ = c.Close()
	}
}

func (l *link) close() {
	_ = l.in.Close()
	l.turn(true)
}

// links are the links of one adapter, in the order of the endpoints.
type links []*link

// linked opens an adapter that reaches its servers by links.
func (s *suite) linked() (links, *protocol.Conn, error) {
	cfg, all := s.cfg, links{}
	cfg.Endpoints = nil
	for _, e := range s.cfg.Endpoints {
		l, by, err := linkTo(e)
		if err != nil {
			return nil, nil, err
		}
		s.links = append(s.links, l)
		all, cfg.Endpoints = append(all, l), append(cfg.Endpoints, by)
	}
	if len(all) == 0 {
		return nil, nil, notAsked("no endpoint is given that could be cut")
	}
	c, err := s.openWith(cfg)
	return all, c, err
}

// linkTo is a link to the server at an endpoint, and the endpoint by that link.
func linkTo(endpoint string) (*link, string, error) {
	host, scheme := endpoint, strings.Contains(endpoint, "://")
	u, err := url.Parse(endpoint)
	if scheme && err == nil {
		host = u.Host
	}
	if _, _, err := net.SplitHostPort(host); err != nil {
		return nil, "", notAsked(fmt.Sprintf("the endpoint %s is no host:port, so the way to it cannot be cut", endpoint))
	}
	l, err := newLink(host)
	if err != nil {
		return nil, "", notAsked("no free port on loopback: " + err.Error())
	}
	if !scheme {
		return l, l.in.Addr().String(), nil
	}
	u.Host = l.in.Addr().String()
	return l, u.String(), nil
}

func (all links) turn(off bool) {
	for _, l := range all {
		l.turn(off)
	}
}

// used says whether anybody comes by a link within a limit.
func (all links) used(limit time.Duration) bool {
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		for _, l := range all {
			l.mu.Lock()
			used := l.used
			l.mu.Unlock()
			if used > 0 {
				return true
			}
		}
		if time.Now().After(end) {
			return false
		}
	}
}
