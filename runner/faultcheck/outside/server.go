package outside

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// port is that of a Redis, whose messages the links understand: this server speaks its protocol, with commands of
// its own.
const port = "6379"

// options are what a server is started with; "-" stands for none.
type options struct{ Data, C, Mark, Clocks string }

func server(o options, peers []string) error {
	me, err := os.Hostname()
	if err != nil {
		return err
	}
	c := o.C
	if c == "-" {
		c = ""
	}
	if _, err := family(o.Mark, o.Clocks == "clocks", c); err != nil { // they end with this process
		return err
	}
	l, err := net.Listen("tcp4", ":"+port) // it is healthy from now on: all that it executes has begun
	if err != nil {
		return err
	}
	if len(peers) > 0 {
		if err := network(me, peers); err != nil {
			return err
		}
	}
	if o.Data != "-" {
		go func() {
			if err := disk(o.Data); err != nil {
				Record{Who: "disk", What: Unable, Text: err.Error()}.print()
			}
		}()
	}
	t := &table{locks: map[string]lock{}}
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		if err == nil {
			go t.serve(conn)
		}
	}
}

// table is the locks of this server, in memory.
type table struct {
	mu    sync.Mutex
	last  int64
	locks map[string]lock
}

type lock struct {
	token string
	until int64
}

func (t *table) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		words, err := command(in)
		if err != nil {
			return
		}
		if _, err := io.WriteString(conn, t.do(words)); err != nil {
			return
		}
	}
}

// do carries out LOCK key ms, FREE key token, or PING number payload.
func (t *table) do(words []string) string {
	now := raw(unix.CLOCK_MONOTONIC)
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case len(words) > 1 && words[0] == "PING":
		return bulk(fmt.Sprintf("%s %d", words[1], now))
	case len(words) == 3 && words[0] == "LOCK":
		lease, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil || t.locks[words[1]].until > now {
			return "$-1\r\n"
		}
		t.last++
		token := fmt.Sprint(now, ".", t.last)
		t.locks[words[1]] = lock{token, now + lease*int64(time.Millisecond)}
		return bulk(token)
	case len(words) == 3 && words[0] == "FREE":
		if l := t.locks[words[1]]; l.token != words[2] || l.until <= now {
			return ":0\r\n"
		}
		delete(t.locks, words[1])
		return ":1\r\n"
	}
	return "-ERR unknown command\r\n"
}

func bulk(text string) string { return fmt.Sprintf("$%d\r\n%s\r\n", len(text), text) }

// command reads an array of bulk strings.
func command(in *bufio.Reader) (words []string, err error) {
	count, err := number(in, "*")
	for i := 0; i < count && err == nil; i++ {
		var size int
		if size, err = number(in, "$"); err == nil {
			b := make([]byte, size+2)
			_, err = io.ReadFull(in, b)
			words = append(words, string(b[:size]))
		}
	}
	return words, err
}

// number reads one line of a kind and its number.
func number(in *bufio.Reader, kind string) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(line, kind), "\r\n"))
	if err != nil || n > 1<<20 || n < -1 {
		return 0, fmt.Errorf("want %sNUMBER, have %q", kind, line)
	}
	return n, nil
}

// healthy asks the server of this node for an echo.
func healthy() error {
	c, err := dial("127.0.0.1:" + port)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.ask("PING", "0")
	return err
}
