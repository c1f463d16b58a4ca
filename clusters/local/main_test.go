package local_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/clusters/local"
	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// self is the test binary, which plays dlmtest too: see TestMain.
const self = "/proc/self/exe"

// TestMain is a stand-in for dlmtest when it is called as one. A word that it does not know
// is refused: a node whose program runs the tests would start nodes, whose programs run them.
func TestMain(m *testing.M) {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "-test.") {
		os.Exit(tests(m))
	}
	var err error
	switch os.Args[1] {
	case "local-init":
		err = local.Main(os.Args[2:])
	case "agent":
		err = echo()
	case "runner":
		err = runner(os.Args[2])
	case "lockservice":
		err = service.Main(context.Background(), os.Args[2:], os.Stderr)
	default:
		err = fmt.Errorf("this stand-in for dlmtest has no command %q", os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// tests runs them in a folder of their own, so that they see no other run's folders.
func tests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "local-test-*")
	if err == nil {
		err = os.Chmod(dir, 0o777) // a run's processes are not root's
	}
	if err == nil {
		err = os.Setenv("TMPDIR", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	return m.Run()
}

// echo answers each line with one line.
func echo() error {
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		word, rest, _ := strings.Cut(lines.Text(), " ")
		switch word {
		case "exit":
			code, _ := strconv.Atoi(rest)
			os.Exit(code)
		case "stderr":
			fmt.Fprintln(os.Stderr, rest)
		case "cat":
			text, err := os.ReadFile(rest)
			say(string(text), err)
		case "sh":
			out, err := exec.Command("sh", "-c", rest).CombinedOutput()
			say(string(out), err)
		case "dial":
			conn, err := net.DialTimeout("tcp", rest, 2*time.Second)
			if err == nil {
				text, _ := io.ReadAll(conn)
				say(string(text), conn.Close())
				break
			}
			say("", err)
		case "serve":
			say("", serve(rest))
		case "become": // the real agent; nothing is sent before this is answered
			say("yes", nil)
			return agent.Main("", os.Stdin, os.Stdout)
		default:
			host, err := os.Hostname()
			say(host+" "+lines.Text(), err)
		}
	}
	return nil
}

func say(text string, err error) {
	if err != nil {
		text += "error: " + err.Error()
	}
	fmt.Println(strings.ReplaceAll(strings.TrimSpace(text), "\n", "|"))
}

func serve(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			host, _ := os.Hostname()
			fmt.Fprintf(conn, "%s saw %s", host, conn.RemoteAddr())
			conn.Close()
		}
	}()
	return nil
}

// runner brings up two nodes and waits to be killed.
func runner(id string) error {
	l, err := clusters.NewLocal(context.Background(), self)
	if err != nil {
		return err
	}
	nodes := []clusters.NodeSpec{clusters.ClientSpec("a"), clusters.ClientSpec("b")}
	c, err := l.Up(context.Background(), clusters.Run{ID: id}, nodes)
	if err != nil {
		return err
	}
	io.WriteString(c.Node("a").Stdin, "sh setsid sleep 1000 >/dev/null 2>&1 &\n")
	fmt.Println("up")
	select {}
}
