package clusters

import (
	"slices"
	"strings"
	"testing"
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
