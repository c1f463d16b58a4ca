package clusters

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Each policy shows in what the servers are told, and no variable is left over.
func TestFsync(t *testing.T) {
	for _, c := range []struct{ profile, policy, want string }{
		{"redis", "", "--appendonly no"},
		{"redis", "memory", "--appendonly no"},
		{"redis", "none", "--appendonly yes --appendfsync no"},
		{"redlock", "everysec", "--appendonly yes --appendfsync everysec"},
		{"redlock", "always", "--appendonly yes --appendfsync always"},
		{"redis-replicated", "always", "--appendonly yes --appendfsync always"},
		{"etcd", "", "ETCD_UNSAFE_NO_FSYNC=false"},
		{"etcd", "none", "ETCD_UNSAFE_NO_FSYNC=true"},
		{"zookeeper", "", "forceSync=yes"},
		{"zookeeper", "none", "forceSync=no"},
		{"postgres", "", "fsync=on -c synchronous_commit=on"},
		{"postgres", "async", "fsync=on -c synchronous_commit=off"},
		{"postgres", "none", "fsync=off"},
	} {
		settings, err := Fsync(c.profile, c.policy)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Load(t.Context(), Compose, c.profile, settings)
		if err != nil {
			t.Fatal(err)
		}
		told := strings.Join(slices.Concat(p.Nodes[0].Command, p.Nodes[0].Env), " ")
		if !strings.Contains(told, c.want) || strings.Contains(told, "DLMTEST") {
			t.Errorf("%s %s: %s", c.profile, c.policy, told)
		}
	}
	_, err := Fsync("etcd", "everysec")
	wantError(t, err, `etcd has no fsync policy "everysec"; it has always, none`)
}

// etcd is told to elect sooner where it would grant a longer lease than a run asks for, and nothing else is told it.
func TestGrants(t *testing.T) {
	for _, c := range []struct {
		profile string
		lease   time.Duration
		want    string
	}{
		{"etcd", time.Second, "--election-timeout 600"},
		{"etcd", 2 * time.Second, "--election-timeout 1000"},
		{"lockservice", time.Second, "--election-timeout 1000"},
	} {
		p, err := Load(t.Context(), Compose, c.profile, Settings{"DLMTEST_ETCD_UNSAFE_NO_FSYNC": "true"}.With(Grants(c.profile, c.lease)))
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(p.Nodes, func(n NodeSpec) bool { return strings.HasPrefix(n.Name, "etcd") })
		told := strings.Join(slices.Concat(p.Nodes[i].Command, p.Nodes[i].Env), " ")
		if !strings.Contains(told, c.want) || !strings.Contains(told, "NO_FSYNC=true") {
			t.Errorf("%s %v: %s", c.profile, c.lease, told)
		}
	}
	if got := Grants("redis", time.Second); got != nil {
		t.Errorf("redis is told %v", got)
	}
}

// A variable of the process must not change what a run was told to do.
func TestSettingsWinOverTheEnvironment(t *testing.T) {
	t.Setenv("DLMTEST_REDIS_APPENDONLY", "yes")
	settings, err := Fsync("redis", "memory")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(t.Context(), Compose, "redis", settings)
	if err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(p.Nodes[0].Command, " "); !strings.Contains(told, "--appendonly no") {
		t.Error(told)
	}
	p, err = Load(t.Context(), Compose, "redis")
	if err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(p.Nodes[0].Command, " "); !strings.Contains(told, "--appendonly yes") {
		t.Error(told)
	}
}
