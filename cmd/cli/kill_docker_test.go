package cli

import (
	"encoding/json"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// boxed is what Docker tells of one.
type boxed struct {
	ID              string
	State           struct{ Pid int }
	NetworkSettings struct{ SandboxKey string }
	GraphDriver     struct{ Data map[string]string }
}

// inDocker are the things that carry the pid of an owner, and what its containers have
// on this machine.
func inDocker(t testing.TB, owner int) (things []string, containers []boxed) {
	t.Helper()
	var ids []string
	for _, list := range [][]string{
		{"ps", "-a", "--no-trunc", "--filter", "label=dlmtest.owner", "--format", `{{.Label "dlmtest.owner"}} container {{.ID}} {{.Names}} {{.Status}}`},
		{"network", "ls", "--filter", "label=dlmtest.owner", "--format", `{{.Label "dlmtest.owner"}} network {{.Name}}`},
		{"volume", "ls", "--filter", "label=dlmtest.owner", "--format", `{{.Label "dlmtest.owner"}} volume {{.Name}}`},
	} {
		out, err := exec.Command("docker", list...).CombinedOutput()
		if err != nil {
			t.Fatalf("docker %v: %v: %s", list, err, out)
		}
		for line := range strings.Lines(string(out)) {
			label, thing, _ := strings.Cut(strings.TrimSpace(line), " ")
			if words := strings.Split(label, "/"); len(words) > 1 && words[1] == strconv.Itoa(owner) {
				things = append(things, thing)
				if of := strings.Fields(thing); of[0] == "container" {
					ids = append(ids, of[1])
				}
			}
		}
	}
	if len(ids) == 0 {
		return things, nil
	}
	out, _ := exec.Command("docker", append([]string{"inspect"}, ids...)...).Output() // one may have gone meanwhile
	if err := json.Unmarshal(out, &containers); err != nil {
		t.Fatalf("docker inspect: %v", err)
	}
	return things, containers
}
