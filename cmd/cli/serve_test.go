package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

// TestServe starts the command on a free port, asks it, and ends it as Ctrl-C does.
func TestServe(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "20261121T100000.000_gc-pause_redlock")
	if err := os.Mkdir(run, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(run, "history.jsonl"), []byte(strings.Join(recorded, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	out, in := io.Pipe()
	cmd := newServe()
	cmd.SetArgs([]string{dir, "--listen", "127.0.0.1:0", "--json"})
	cmd.SetOut(in)
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ Event, URL, Dir string }
	if err := json.Unmarshal(line, &said); err != nil || said.Event != "serving" || !strings.HasPrefix(said.URL, "http://127.0.0.1:") || said.Dir != dir {
		t.Fatalf("%s: %v", line, err)
	}
	client := http.Client{Timeout: eventually.Most, Transport: &http.Transport{}}
	resp, err := client.Get(said.URL)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || !bytes.Contains(body, []byte("gc-pause_redlock")) || !bytes.Contains(body, []byte("not judged")) {
		t.Errorf("%v: %s", err, body)
	}
	cancel() // an idle connection of the client does not hold it up
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it did not end")
	}
	if resp, err := client.Get(said.URL); err == nil {
		resp.Body.Close()
		t.Error("it still answers")
	}
}

// A run that goes on has no report yet, and nothing of it is touched.
func TestReportOfARunThatGoesOn(t *testing.T) {
	dir := t.TempDir()
	part := filepath.Join(dir, "history.jsonl.part")
	if err := os.WriteFile(part, []byte(strings.Join(recorded, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(part)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{dir}, {dir, dir, "-o", filepath.Join(dir, "compare.html")}, {dir, "--format", "svg"}} {
		cmd := newReport()
		cmd.SetArgs(args)
		cmd.SetOut(io.Discard)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "still going on") {
			t.Errorf("%v: %v", args, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
}

// Only the loopback needs no warning.
func TestReach(t *testing.T) {
	for addr, want := range map[string]string{
		"127.0.0.1:80": "http://127.0.0.1:80/", "127.1.2.3:80": "http://127.1.2.3:80/", "[::1]:80": "http://[::1]:80/",
		"192.0.2.7:80": "http://192.0.2.7:80/ warned", "0.0.0.0:80": "http://localhost:80/ warned", "[::]:80": "http://localhost:80/ warned",
	} {
		at, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		got, warning := reach(at, "runs")
		if warning != "" {
			got += " warned"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", addr, got, want)
		}
	}
}

// So many may have begun a request. The next is answered once one of them has gone.
func TestServeHasSoManyReaders(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := newServe()
	cmd.SetContext(ctx)
	cmd.SetOut(io.Discard)
	ended := make(chan error, 1)
	go func() { ended <- serveOn(cmd, l, http.NotFoundHandler(), "runs", false) }()
	var all []net.Conn
	for range mostReaders {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		all = append(all, c)
	}
	late, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer late.Close()
	if _, err := late.Write([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")); err != nil {
		t.Fatal(err)
	}
	answered := func(within time.Duration) bool {
		_ = late.SetReadDeadline(time.Now().Add(within))
		n, _ := late.Read(make([]byte, 64))
		return n > 0
	}
	if answered(time.Second) {
		t.Errorf("%d readers at a time", mostReaders+1)
	}
	_ = all[0].Close()
	if !answered(eventually.Most) {
		t.Error("nobody was let in once a reader had gone")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
