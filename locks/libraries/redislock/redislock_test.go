package redislock

import (
	"bufio"
	"errors"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// A server that dies with the request in its hands may have done it, though go-redis asks
// again and its last word is that nobody can be dialled. One that was never there has not.
func TestRedislockDialsAgain(t *testing.T) {
	dead := dying(t)
	for _, sure := range []bool{false, true} { // the second client finds nobody at all
		l, err := open(t.Context(), adapter.Config{Endpoints: []string{dead}, Lease: time.Minute, Client: "c"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Acquire(t.Context(), adapter.Ask{Key: "the-key"})
		if err == nil || errors.Is(err, adapter.ErrNotGranted) != sure {
			t.Errorf("certainly not granted: want %v, got %v", sure, err)
		}
		_ = l.Close()
	}
}

// A release whose first answer was lost may have freed the lock, whatever the repeat is told. One that
// was answered at once has not.
func TestRedislockRepeatsARelease(t *testing.T) {
	for _, c := range []struct {
		answers []string // to requests that name the key; "": the connection ends
		sure    bool
	}{{[]string{"+OK\r\n", "$-1\r\n"}, true}, {[]string{"+OK\r\n", "", "$-1\r\n"}, false}} {
		l, err := open(t.Context(), adapter.Config{Endpoints: []string{answering(t, c.answers)}, Lease: time.Minute, Client: "c"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		g, err := l.Acquire(t.Context(), adapter.Ask{Key: "the-key"})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Release(t.Context(), g); err == nil || errors.Is(err, adapter.ErrNotHeld) != c.sure {
			t.Errorf("%q: certainly not held: want %v, got %v", c.answers, c.sure, err)
		}
		_ = l.Close()
	}
}

// answering is the address of a server that answers each request for the key in turn.
func answering(t *testing.T, answers []string) string {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	var next atomic.Int32
	serve := func(c net.Conn) {
		defer c.Close()
		s := bufio.NewScanner(c)
		for s.Scan() { // *N, and then N words, each after its length
			n, _ := strconv.Atoi(strings.TrimPrefix(s.Text(), "*"))
			answer := "-ERR unknown command\r\n"
			for range 2 * n {
				if s.Scan() && s.Text() == prefix+"the-key" {
					answer = answers[min(int(next.Add(1)), len(answers))-1]
				}
			}
			if answer == "" {
				return
			}
			_, _ = c.Write([]byte(answer))
		}
	}
	go func() {
		for {
			c, err := in.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return in.Addr().String()
}

// dying is the address of a server that reads a request for the key, and is gone.
func dying(t *testing.T) string {
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer in.Close()
		c, err := in.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		s := bufio.NewScanner(c)
		for s.Scan() { // *N, and then N words, each after its length
			n, _ := strconv.Atoi(strings.TrimPrefix(s.Text(), "*"))
			for range 2 * n {
				if s.Scan() && s.Text() == prefix+"the-key" {
					return
				}
			}
			_, _ = c.Write([]byte("-ERR unknown command\r\n"))
		}
	}()
	return in.Addr().String()
}
