package protocol_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/internal/raced"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
)

// misbehaviour is an adapter that is bad in one way, and what it must be called.
type misbehaviour struct {
	want protocol.Kind
	run  func(in *bufio.Scanner)
}

// each answers line by line: f returns what to print for a request, "": the usual.
func each(f func(do string, id int64) string) func(*bufio.Scanner) {
	return func(in *bufio.Scanner) {
		for in.Scan() {
			var r protocol.Request
			_ = json.Unmarshal(in.Bytes(), &r)
			text := f(string(r.Do), r.ID)
			if text == "" {
				text = usual(string(r.Do), r.ID)
			}
			fmt.Print(text)
		}
	}
}

const hello = `{"id":%d,"ok":{"version":1,"name":"bad","library":"0","offers":[%s]}}` + "\n"

func usual(do string, id int64) string {
	switch do {
	case "hello":
		return fmt.Sprintf(hello, id, "")
	case "acquire":
		return fmt.Sprintf(`{"id":%d,"ok":{"grant":"g%d"}}`+"\n", id, id)
	}
	return fmt.Sprintf(`{"id":%d,"ok":{}}`+"\n", id)
}

// on is bad at one request.
func on(what string, f func(id int64) string) func(*bufio.Scanner) {
	return each(func(do string, id int64) string {
		if do == what {
			return f(id)
		}
		return ""
	})
}

func says(format string) func(int64) string {
	return func(id int64) string { return strings.ReplaceAll(format, "ID", fmt.Sprint(id)) + "\n" }
}

// offering says hello with offers, and then says something at a request.
func offering(offers, what, format string) func(*bufio.Scanner) {
	return each(func(do string, id int64) string {
		switch do {
		case "hello":
			return fmt.Sprintf(hello, id, offers)
		case what:
			return says(format)(id)
		}
		return ""
	})
}

// offering1 is the usual answer of an adapter that offers something.
func offering1(offers, do string, id int64) string {
	if do == "hello" {
		return fmt.Sprintf(hello, id, offers)
	}
	return ""
}

var bad = map[string]misbehaviour{
	"garbage":          {protocol.Garbage, on("acquire", says("Hello, world"))},
	"garbage-at-start": {protocol.Garbage, on("hello", says("log4j:WARN No appenders could be found"))},
	"not-an-object":    {protocol.Garbage, on("acquire", says("[1,2]"))},
	"name-twice":       {protocol.Garbage, on("acquire", says(`{"id":ID,"id":2,"ok":{}}`))},
	"typo":             {protocol.Garbage, offering(`"token"`, "acquire", `{"id":ID,"ok":{"grant":"g","tokne":3}}`)},
	"ok-and-error":     {protocol.Garbage, on("acquire", says(`{"id":ID,"ok":{},"error":{"code":"unknown","message":""}}`))},
	"bad-code":         {protocol.Garbage, on("acquire", says(`{"id":ID,"error":{"code":"notgranted","message":""}}`))},
	"bad-event":        {protocol.Garbage, on("acquire", says(`{"event":"losst"}`))},
	"not-utf8":         {protocol.Garbage, on("acquire", says("{\"id\":ID,\"ok\":{\"grant\":\"\xff\"}}"))},
	"megabyte":         {protocol.LongLine, on("acquire", func(int64) string { return strings.Repeat("x", 1<<20) + "\n" })},
	"endless-line":     {protocol.LongLine, on("acquire", func(int64) string { return strings.Repeat("x", 1<<20) })},
	"dies":             {protocol.Died, on("acquire", func(int64) string { fmt.Fprintln(os.Stderr, "Segmentation fault"); os.Exit(3); return "" })},
	"dies-at-start":    {protocol.Died, func(*bufio.Scanner) { os.Exit(1) }},
	"closes-stdout":    {protocol.Died, on("acquire", func(int64) string { os.Stdout.Close(); time.Sleep(time.Hour); return "" })},
	"hangs":            {protocol.Hangs, on("acquire", func(int64) string { time.Sleep(time.Hour); return "" })},
	"hangs-at-start":   {protocol.Hangs, func(*bufio.Scanner) { time.Sleep(time.Hour) }},
	"hangs-concurrent": {protocol.Hangs, each(func(do string, id int64) string {
		if do == "acquire" {
			time.Sleep(time.Hour)
		}
		return offering1(`"concurrent"`, do, id)
	})},
	"stops-itself":       {protocol.Hangs, on("acquire", func(int64) string { _ = syscall.Kill(os.Getpid(), syscall.SIGSTOP); time.Sleep(time.Hour); return "" })},
	"token-is-no-number": {protocol.Garbage, offering(`"token"`, "acquire", `{"id":ID,"ok":{"grant":"gID","token":NaN}}`)},
	"token-has-no-end":   {protocol.Garbage, offering(`"token"`, "acquire", `{"id":ID,"ok":{"grant":"gID","token":1e400}}`)},
	"token-is-too-large": {protocol.Garbage, offering(`"token"`, "acquire", `{"id":ID,"ok":{"grant":"gID","token":18446744073709551616}}`)},
	"nested-deeply": {protocol.Garbage, on("acquire", func(id int64) string {
		return fmt.Sprintf(`{"id":%d,"ok":{"grant":%s%s}}`+"\n", id, strings.Repeat("[", 30_000), strings.Repeat("]", 30_000))
	})},
	"screams": {protocol.Died, on("acquire", func(int64) string { // of its 8 MB on stderr the last words are kept
		for range 8 {
			_, _ = os.Stderr.Write(bytes.Repeat([]byte("a"), 1<<20))
		}
		os.Exit(3)
		return ""
	})},
	"answers-twice":     {protocol.Twice, on("acquire", func(id int64) string { return usual("acquire", id) + usual("release", id) })},
	"answers-unasked":   {protocol.Unasked, on("acquire", func(id int64) string { return usual("release", id+1) })},
	"wrong-version":     {protocol.NoVersion, on("hello", says(`{"id":ID,"ok":{"version":7,"name":"x"}}`))},
	"refuses-hello":     {protocol.NoVersion, on("hello", says(`{"id":ID,"error":{"code":"unsupported","message":"I speak version 2"}}`))},
	"no-name":           {protocol.Mistaken, on("hello", says(`{"id":ID,"ok":{"version":1}}`))},
	"unknown-offer":     {protocol.Mistaken, on("hello", says(`{"id":ID,"ok":{"version":1,"name":"x","offers":["fencing"]}}`))},
	"no-grant":          {protocol.Mistaken, on("acquire", says(`{"id":ID,"ok":{}}`))},
	"one-grant-name":    {protocol.Mistaken, on("acquire", says(`{"id":ID,"ok":{"grant":"g"}}`))},
	"code-does-not-fit": {protocol.Mistaken, on("release", says(`{"id":ID,"error":{"code":"not-granted","message":""}}`))},
	"held-does-not-fit": {protocol.Mistaken, on("release", says(`{"id":ID,"error":{"code":"held","message":""}}`))},
	"wall-clock":        {protocol.Mistaken, offering(`"validity"`, "acquire", `{"id":ID,"ok":{"grant":"gID","deadline_ns":1700000000000000000}}`)},
	"sent-ahead":        {protocol.Mistaken, offering(`"sent"`, "acquire", `{"id":ID,"ok":{"grant":"gID","sent_ns":9000000000000000000}}`)},
	"no-token":          {protocol.Overclaims, offering(`"token"`, "acquire", `{"id":ID,"ok":{"grant":"gID"}}`)},
	"no-sent":           {protocol.Overclaims, offering(`"sent"`, "acquire", `{"id":ID,"ok":{"grant":"gID"}}`)},
	"no-deadline":       {protocol.Overclaims, offering(`"validity"`, "acquire", `{"id":ID,"ok":{"grant":"gID"}}`)},
	"no-try":            {protocol.Overclaims, offering(`"try"`, "try", `{"id":ID,"error":{"code":"unsupported","message":""}}`)},
	"no-extend":         {protocol.Overclaims, offering(`"extend"`, "extend", `{"id":ID,"error":{"code":"unsupported","message":""}}`)},
	"token-unoffered":   {protocol.Overclaims, on("acquire", says(`{"id":ID,"ok":{"grant":"gID","token":3}}`))},
	"event-unoffered":   {protocol.Overclaims, on("acquire", says(`{"event":"lost"}`))},
	"event-of-nothing":  {protocol.Mistaken, offering(`"events"`, "acquire", `{"event":"lost","grant":"g9"}`)},
	"event-before-hello": {protocol.Mistaken, on("hello", func(id int64) string {
		return `{"event":"lost"}` + "\n" + fmt.Sprintf(hello, id, `"events"`)
	})},
	"event-with-hello": {protocol.Mistaken, on("hello", func(id int64) string {
		return fmt.Sprintf(hello, id, `"events"`) + `{"event":"lost","grant":"g9"}` + "\n"
	})},
	"floods":            {protocol.Floods, offering(`"events"`, "acquire", strings.Repeat(`{"event":"suspended"}`+"\n", 20_000))},
	"floods-with-words": {protocol.Floods, offering(`"events"`, "acquire", strings.Repeat(`{"event":"suspended","why":"`+strings.Repeat("x", 4000)+`"}`+"\n", 8_000))},
	"deaf":              {protocol.StaysOn, func(in *bufio.Scanner) { each(func(string, int64) string { return "" })(in); time.Sleep(time.Hour) }},
	"ignores-all": {protocol.StaysOn, func(in *bufio.Scanner) {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		each(func(string, int64) string { return "" })(in)
		time.Sleep(time.Hour)
	}},
	"garbage-at-close": {protocol.Garbage, on("close", says(`{"id":ID,"ok":{}}`+"\nGood bye"))},
	"twice-at-close":   {protocol.Twice, on("close", func(id int64) string { return usual("close", id) + usual("close", id) })},
	"close-unanswered": {protocol.Hangs, on("close", func(int64) string { time.Sleep(time.Hour); return "" })},
	"leaves-child": {protocol.StaysOn, func(in *bufio.Scanner) {
		_ = exec.Command("sleep", "3600").Start()
		each(func(string, int64) string { return "" })(in)
	}},
	"leaves-daemon": {protocol.StaysOn, func(in *bufio.Scanner) {
		_ = exec.Command("sh", "-c", "setsid sh -c 'sleep 3600 & sleep 3600' >/dev/null 2>&1 &").Run()
		each(func(string, int64) string { return "" })(in)
	}},
}

func quickly() protocol.Limits {
	return protocol.Limits{Start: 5 * time.Second, Late: time.Second, Ping: 500 * time.Millisecond, Close: 3 * time.Second, End: time.Second}
}

func command(t *testing.T, name string) (protocol.Command, string) {
	t.Helper()
	mark := "DLMTEST_TEST_RUN=" + t.Name() + time.Now().String()
	return protocol.Command{Argv: []string{self()}, Env: []string{asAdapter + "=" + name, mark}, Limits: quickly()}, mark
}

// Each kind of bad adapter is named as what it is, and leaves nothing running.
func TestBadAdapters(t *testing.T) {
	for name, m := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if raced.Detector && m.want == protocol.Floods {
				t.Skip("the flood is not read before the limit of the call")
			}
			cmd, mark := command(t, name)
			if m.want == protocol.Floods { // a busy machine reads slowly what it is flooded with
				cmd.Limits.Late = 10 * time.Second
			}
			err := use(t, cmd)
			var f *protocol.Fault
			if !errors.As(err, &f) || f.Kind != m.want {
				t.Errorf("got %v, want a fault of kind %s", err, m.want)
			} else {
				t.Log(f)
			}
			if errors.Is(err, locks.ErrNotGranted) || errors.Is(err, locks.ErrNotHeld) {
				t.Errorf("%v says something about the lock", err)
			}
			nothingLeft(t, mark)
		})
	}
}

// use goes through the life of a client until something is wrong.
func use(t *testing.T, cmd protocol.Command) error {
	c, err := protocol.Open(t.Context(), cmd, locks.Config{Lease: time.Second, Client: "c"})
	if err != nil {
		return err
	}
	asked := func(do func(context.Context) error) error {
		for late := 0; ; late++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			err := do(ctx)
			cancel()
			if !errors.Is(err, protocol.ErrLate) || late == 5 {
				return err
			}
			select { // the caller goes on, and the adapter is looked after
			case <-c.(protocol.Faulty).Failed():
				return c.(protocol.Faulty).Fault()
			case <-time.After(5 * time.Second): // a busy machine was late, not the adapter: again
			}
		}
	}
	var g *locks.Grant
	calls := []func(context.Context) error{func(ctx context.Context) (err error) { g, err = c.Acquire(ctx, "k"); return err }}
	if e, ok := c.(locks.Extender); ok {
		calls = append(calls, func(ctx context.Context) error { _, err := e.Extend(ctx, g); return err })
	}
	if tr, ok := c.(locks.Trier); ok {
		calls = append(calls, func(ctx context.Context) error { _, err := tr.Try(ctx, "j"); return err })
	}
	calls = append(calls, func(ctx context.Context) error { return c.Release(ctx, g) })
	for _, call := range slices.Concat(calls, calls) { // twice: what is wrong may come behind the first answer
		if err = asked(call); err != nil {
			break
		}
	}
	closed := c.Close()
	if err == nil {
		err = closed
	}
	return err
}

// nothingLeft looks for processes that have the mark in their environment.
func nothingLeft(t *testing.T, mark string) {
	t.Helper()
	eventually.True(t, "nothing of the adapter runs", func() bool { return len(marked(mark)) == 0 })
}

func marked(mark string) (left []string) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ") // of a zombie it is empty
		if err == nil && strings.Contains(string(env), mark) {
			left = append(left, e.Name())
		}
	}
	return left
}
