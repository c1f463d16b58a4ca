package clusters

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestLoadEmbedded(t *testing.T) {
	for profile, want := range map[string]struct {
		nodes  []string
		image  string
		port   int
		argv0  string
		health string
	}{
		"redis":     {[]string{"redis-1"}, "dlmtest/redis:latest", 6379, "redis-server", "redis-cli"},
		"redlock":   {[]string{"redlock-1", "redlock-2", "redlock-3", "redlock-4", "redlock-5"}, "dlmtest/redis:latest", 6379, "redis-server", "redis-cli"},
		"etcd":      {[]string{"etcd-1", "etcd-2", "etcd-3"}, "dlmtest/etcd:latest", 2379, "sh", "etcdctl"},
		"zookeeper": {[]string{"zookeeper-1", "zookeeper-2", "zookeeper-3"}, "dlmtest/zookeeper:latest", 2181, "sh", "bash"},
		"postgres":  {[]string{"postgres-1"}, "dlmtest/postgres:latest", 5432, "postgres", "psql"},
	} {
		p, err := Load(t.Context(), Compose, profile)
		if err != nil {
			t.Fatalf("%s: %v", profile, err)
		}
		var names []string
		for _, n := range p.Nodes {
			names = append(names, n.Name)
			if n.Role != profile || n.Image != want.image || n.Ports[0] != want.port || n.Argv()[0] != want.argv0 ||
				n.Health[0] != want.health || len(n.Version) == 0 {
				t.Errorf("%s: %+v, want %+v", profile, n, want)
			}
		}
		if !slices.Equal(names, want.nodes) {
			t.Errorf("%s: nodes %v, want %v", profile, names, want.nodes)
		}
	}
}

func TestLoadReplicated(t *testing.T) {
	p, err := Load(t.Context(), Compose, "redis-replicated")
	if err != nil {
		t.Fatal(err)
	}
	var nodes []string
	for _, n := range p.Nodes {
		nodes = append(nodes, n.Role+" "+n.Name)
		if n.Image != "dlmtest/redis:latest" || len(n.Health) == 0 || len(n.Version) == 0 ||
			n.Ports[0] != map[string]int{"replicated": 6379, "sentinel": 26379}[n.Role] {
			t.Errorf("%+v", n)
		}
	}
	want := []string{"replicated replicated-1", "replicated replicated-2", "replicated replicated-3",
		"sentinel sentinel-1", "sentinel sentinel-2", "sentinel sentinel-3"}
	if !slices.Equal(nodes, want) {
		t.Errorf("nodes %v, want %v", nodes, want)
	}
}

// The scripts of the file are for the node's shell: none of their dollars may be
// taken by compose.
func TestLoadKeepsDollars(t *testing.T) {
	p, err := Load(t.Context(), Compose, "zookeeper")
	if err != nil {
		t.Fatal(err)
	}
	script := p.Nodes[0].Command[2]
	if !strings.Contains(script, "echo ${HOSTNAME#zookeeper-}") || strings.Contains(script, "$$") {
		t.Errorf("script:\n%s", script)
	}
}

func TestLoadUnknownProfile(t *testing.T) {
	_, err := Load(t.Context(), Compose, "mysql")
	wantError(t, err, `no profile "mysql"; it has etcd, lockservice, postgres, redis, redis-replicated, redlock, zookeeper`)
	_, err = Load(t.Context(), Compose, "")
	wantError(t, err, "no service without a profile")
}

func TestLoadBadFile(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"yaml":            {"services:\n  a:\n   - b\n  c: [\n", "line 5"},
		"unknown key":     {"services:\n  a:\n    image: x\n    bogus: 3\n", "docker-compose.yml:4"},
		"duration":        {"services:\n  a:\n    image: x\n    healthcheck:\n      interval: hugo\n", "docker-compose.yml:5"},
		"privileged":      {"services:\n  a:\n    image: x\n    privileged: true\n", "docker-compose.yml:4: service a: privileged: dlmtest does not support it"},
		"no image":        {"services:\n  a:\n    build: .\n", "service a: build: dlmtest does not support it"},
		"no image at all": {"services:\n  a:\n    command: x\n", `service "a" has neither an image`},
		"a bomb":          {"a: &a [x,x]\nb: &b [*a,*a]\n" + strings.Repeat("- x\n", 1<<20), "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(t.Context(), []byte(c.text), "")
			wantError(t, err, c.want)
		})
	}
}

func TestLoadUsersFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.yml")
	text := `
services:
  kv-10: {image: kv}
  kv-9:
    image: kv
    entrypoint: /bin/kv serve
    command: --name "my node"
    environment: [B=2, A=1, UNSET_IN_THIS_TEST]
    user: "5:6"
    ports: ["80"]
    volumes: ["./kv.conf:/etc/kv.conf:ro", "data:/data"]
    healthcheck: {test: kv ping}
volumes: {data: }
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "kv.conf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := LoadFile(t.Context(), path, "", false)
	if err != nil {
		t.Fatal(err)
	}
	n := p.Nodes[0]
	if n.Name != "kv-9" || p.Nodes[1].Name != "kv-10" {
		t.Errorf("order: %s, %s", n.Name, p.Nodes[1].Name)
	}
	if got, want := n.Argv(), []string{"/bin/kv", "serve", "--name", "my node"}; !slices.Equal(got, want) {
		t.Errorf("argv %q, want %q", got, want)
	}
	if !slices.Equal(n.Env, []string{"A=1", "B=2"}) || n.User != "5:6" {
		t.Errorf("%+v", n)
	}
	if !slices.Equal(n.Health, []string{"/bin/sh", "-c", "kv ping"}) {
		t.Errorf("health %q", n.Health)
	}
	want := []Mount{
		{Type: "bind", Source: filepath.Join(filepath.Dir(path), "kv.conf"), Target: "/etc/kv.conf", ReadOnly: true},
		{Type: "volume", Source: "data", Target: "/data"},
	}
	if !slices.Equal(n.Mounts, want) {
		t.Errorf("mounts %+v, want %+v", n.Mounts, want)
	}
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one with %q", err, want)
	}
}
