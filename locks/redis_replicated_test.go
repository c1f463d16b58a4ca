package locks

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// fakeRedis answers the commands of a test: answer gets the words of each.
func fakeRedis(t *testing.T, answer func(words []string) string) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for r := bufio.NewReader(conn); ; {
					words, err := readCommand(r)
					if err != nil {
						return
					}
					fmt.Fprintf(conn, "%s\r\n", answer(words))
				}
			}()
		}
	}()
	return listener.Addr().String()
}

func readCommand(r *bufio.Reader) ([]string, error) {
	line := func() (string, error) {
		s, err := r.ReadString('\n')
		return strings.TrimSpace(s), err
	}
	head, err := line()
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimPrefix(head, "*"))
	if err != nil {
		return nil, err
	}
	var words []string
	for range n {
		head, err := line()
		if err != nil {
			return nil, err
		}
		length, err := strconv.Atoi(strings.TrimPrefix(head, "$"))
		if err != nil {
			return nil, err
		}
		text := make([]byte, length+2)
		if _, err := io.ReadFull(r, text); err != nil {
			return nil, err
		}
		words = append(words, string(text[:length]))
	}
	return words, nil
}

// lockOn opens a lock on a fake server whose take and WAIT are answered as told.
func lockOn(t *testing.T, wait int, take, acknowledged string) (l *redisLock, freed func() bool) {
	t.Helper()
	free := make(chan bool, 8)
	addr := fakeRedis(t, func(words []string) string {
		switch command := strings.ToUpper(words[0]); {
		case command == "PING":
			return "+PONG"
		case command == "WAIT":
			return acknowledged
		case command == "EVAL" && words[1] == redisTake:
			return take
		case command == "EVAL" && words[1] == redisFree:
			free <- true
			return ":1"
		}
		return "-ERR unknown command"
	})
	l, err := openRedisLock(t.Context(), Config{Endpoints: []string{addr}, Lease: time.Second, Client: "c", Wait: wait}, firstRedis)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, func() bool { return len(free) > 0 }
}

func TestWaitGrantsWhatIsReplicated(t *testing.T) {
	l, _ := lockOn(t, 1, ":7", ":1")
	if g, err := l.Try(t.Context(), "k"); err != nil || g.Token != 7 {
		t.Errorf("%+v, %v", g, err)
	}
}

func TestWaitGivesBackWhatIsNot(t *testing.T) {
	l, freed := lockOn(t, 2, ":7", ":1")
	_, err := l.Try(t.Context(), "k")
	if !errors.Is(err, ErrNotGranted) || !errors.Is(err, errUnreplicated) || !freed() {
		t.Errorf("freed %v: %v", freed(), err)
	}
}

func TestWaitThatFailsIsOpen(t *testing.T) {
	l, freed := lockOn(t, 1, ":7", "-READONLY You can't write against a read only replica.")
	if _, err := l.Try(t.Context(), "k"); err == nil || errors.Is(err, ErrNotGranted) || !freed() {
		t.Errorf("the SET has run, and this error says it has not, freed %v: %v", freed(), err)
	}
}

func TestWaitIsNotAskedForARefusal(t *testing.T) {
	l, freed := lockOn(t, 1, ":0", "-ERR nobody should ask")
	if _, err := l.Try(t.Context(), "k"); !errors.Is(err, ErrHeld) || freed() {
		t.Errorf("freed %v: %v", freed(), err)
	}
}

func TestErrorsOfAFailover(t *testing.T) {
	for answer, refused := range map[string]bool{
		"-READONLY You can't write against a read only replica.":                   true,
		"-LOADING Redis is loading the dataset in memory":                          true,
		"-NOREPLICAS Not enough good replicas to write.":                           true,
		"-MASTERDOWN Link with MASTER is down":                                     true,
		"-UNBLOCKED force unblock from blocking operation, instance state changed": false,
		"-ERR anything else": false,
	} {
		l, freed := lockOn(t, 0, answer, "")
		if _, err := l.Try(t.Context(), "k"); err == nil || errors.Is(err, ErrNotGranted) != refused || freed() == refused {
			t.Errorf("%s: freed %v, %v", answer, freed(), err)
		}
	}
}

func TestNoSentinelIsARefusal(t *testing.T) {
	db := failoverRedis(Config{Endpoints: []string{"127.0.0.1:1"}, Lease: 200 * time.Millisecond})
	defer db.Close()
	if err := db.Ping(t.Context()).Err(); err == nil || !redisUntouched(err) {
		t.Errorf("nobody to send it to: %v", err)
	}
	silent := fakeRedis(t, func([]string) string { return "-ERR no such master" })
	asked := failoverRedis(Config{Endpoints: []string{silent}, Lease: 200 * time.Millisecond})
	defer asked.Close()
	if err := asked.Ping(t.Context()).Err(); err == nil || !redisUntouched(err) {
		t.Errorf("no sentinel knows the primary: %v", err)
	}
	if redisUntouched(redis.Nil) || redisUntouched(errDown) {
		t.Error("any error passes")
	}
}
