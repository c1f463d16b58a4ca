package local_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
)

func runtime(t *testing.T) *clusters.Local {
	t.Helper()
	l, err := clusters.NewLocal(t.Context(), self)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func runID() clusters.Run {
	return clusters.Run{ID: fmt.Sprintf("test-%d-%d", os.Getpid(), time.Now().UnixNano()%1e9)}
}

func bringUp(t *testing.T, nodes ...clusters.NodeSpec) *clusters.Cluster {
	t.Helper()
	begin := time.Now()
	c, err := runtime(t).Up(t.Context(), runID(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d nodes up: %v", len(nodes), time.Since(begin))
	t.Cleanup(func() { c.Down(context.Background()) })
	return c
}

// ask sends a line to a node's agent and returns its answer.
func ask(t *testing.T, n *clusters.Node, line string) string {
	t.Helper()
	if _, err := io.WriteString(n.Stdin, line+"\n"); err != nil {
		t.Fatal(err)
	}
	answer, err := bufio.NewReader(n.Stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("%s: %v", n.Spec.Name, err)
	}
	return strings.TrimSpace(answer)
}

func want(t *testing.T, n *clusters.Node, line, part string) {
	t.Helper()
	if got := ask(t, n, line); !strings.Contains(got, part) {
		t.Errorf("%s: %q answers %q, which lacks %q", n.Spec.Name, line, got, part)
	}
}

// folders are those of living and dead runs of the present user.
func folders() []string {
	id := os.Geteuid()
	if id == 0 {
		id = 65534
	}
	found, _ := filepath.Glob(filepath.Join(os.TempDir(), fmt.Sprintf("dlmtest-local-%d/run-*", id)))
	return found
}

func descendants(root int) []int {
	var found []int
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		for pid := range children(queue[0]) {
			found, queue = append(found, pid), append(queue, pid)
		}
	}
	return found
}

func children(pid int) map[int]bool {
	found := map[int]bool{}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range lists {
		text, _ := os.ReadFile(path)
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			found[child] = true
		}
	}
	return found
}

func anyAlive(pids []int) bool {
	for _, pid := range pids {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			return true
		}
	}
	return false
}
