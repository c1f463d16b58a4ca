package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/internal/eventually"
	"github.com/dlmtest/dlmtest/nemesis"
)

// eachKind has every kind of fault once.
var eachKind = map[string]string{
	"pause":        "target: a-server, at: 0.5 lease, for: 0.4 lease",
	"kill":         "target: a-server, at: 1.5 lease, for: 0.4 lease",
	"partition":    "target: a-server, at: 2.5 lease, for: 0.4 lease",
	"clock":        "target: a-server, at: 3.5 lease, clock: {step: 60s}, for: 0.4 lease",
	"crash":        "target: a-server, at: 4.5 lease, for: 0.4 lease",
	"disk-stall":   "name: stall, target: a-server, on: releasing, at: 5.5 lease, for: 0.6 lease", // a release comes, and is written
	"stall-worker": "target: holder, on: before-write, at: 7 lease, for: 0.4 lease",

	"latency":      "target: clients, at: 1.05 lease, latency: 20ms, for: 0.3 lease",
	"bandwidth":    "target: clients, at: 2.05 lease, rate: 2000, for: 0.4 lease",
	"reset":        "target: clients, at: 3.05 lease, for: 0.3 lease",
	"hold-request": "target: clients, at: 4.05 lease, for: 0.3 lease",
	"blackhole":    "target: holder, on: releasing, at: 5.05 lease, for: 0.3 lease", // others may wait for an answer of before the crash, and say nothing
	"hold-answer":  "target: clients, after: stall, at: 0.5 lease, for: 0.3 lease",  // of a server that answers
	"cut-link":     "target: a-client, at: 7.5 lease, when: {bytes: 1}, for: 0.3 lease",
}

// No fault reaches anything but the nodes of its run: the machine is the same before,
// during and after a run with each kind of fault.
func TestFaultsStayInTheirNodes(t *testing.T) {
	faults := ""
	for _, kind := range slices.Sorted(maps.Keys(nemesis.Kinds)) {
		if eachKind[kind] == "" {
			t.Errorf("the fault %s is not in this test", kind)
			continue
		}
		faults += "  - {fault: " + kind + ", " + eachKind[kind] + "}\n"
	}
	text := strings.ReplaceAll(scenarioWith("each-kind", faults), "duration: 4 lease", "duration: 9 lease\nwait: 8 lease")
	dlmtest(t)
	dir := openFolder(t)
	scenario := filepath.Join(dir, "each-kind.yaml")
	if err := os.WriteFile(scenario, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	before, clock := lookAtHost(t, dir), hostClock()
	stop, sampled := make(chan struct{}), make(chan int)
	go func() { sampled <- watchHost(t, before, clock, stop) }()
	t.Run("in", func(t *testing.T) { // both runtimes side by side, on one host
		for _, runtime := range []string{"docker", "local"} {
			t.Run(runtime, func(t *testing.T) {
				beside(t)
				args := []string{"--scenario", scenario, "--backend", "redis", "--fsync", "always", "--runtime", runtime}
				f := runScenario(t, args...)
				if f.result.Counts.FaultsSeen != f.result.Counts.Faults { // a client that says nothing meets no fault of its links
					t.Log(f.result.Doubts)
					f = runScenario(t, args...)
				}
				if f.result.Counts.Faults < len(eachKind) || f.result.Counts.FaultsSeen != f.result.Counts.Faults {
					t.Errorf("%d of %d faults were seen, %d wanted", f.result.Counts.FaultsSeen, f.result.Counts.Faults, len(eachKind))
					keep(t, f)
				}
				nothingLeft(t, f.runner)
			})
		}
	})
	close(stop)
	if n := <-sampled; n < 20 {
		t.Errorf("the host was looked at only %d times", n)
	}
	wantHost(t, before, func() map[string]string { return lookAtHost(t, dir) })
}

// openFolder is one that every user can enter, as a run without Docker needs.
func openFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dlmtest-host-*")
	if err == nil {
		err = os.Chmod(dir, 0o1777)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// watchHost looks again and again at what must never change, and returns how often.
func watchHost(t *testing.T, before map[string]string, clock reading, stop chan struct{}) int {
	for n := 1; ; n++ {
		now := hostClock()
		// NTP may slew by 500 ppm; a step is 60 s here.
		if moved, bound := (now.offset - clock.offset).Abs(), 5*time.Millisecond+now.at.Sub(clock.at)/2000; moved > bound {
			t.Errorf("the host's clock moved by %v within %v", moved, now.at.Sub(clock.at))
			return n
		}
		for what, is := range lookAtNetwork(t) {
			if is != before[what] {
				t.Errorf("%s of the host changed in the run: was\n%s\nis\n%s", what, before[what], is)
				return n
			}
		}
		select {
		case <-stop:
			return n
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// wantHost waits, for the kernel removes a container's things later.
func wantHost(t *testing.T, before map[string]string, look func() map[string]string) {
	t.Helper()
	var now map[string]string
	for end := time.Now().Add(eventually.Most); time.Now().Before(end); {
		if now = look(); maps.Equal(before, now) {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
	for what := range before {
		if before[what] != now[what] {
			t.Errorf("%s of the host changed: was\n%s\nis\n%s", what, before[what], now[what])
		}
	}
}

// reading is how far REALTIME is from the raw monotonic clock.
type reading struct {
	at     time.Time
	offset time.Duration
}

func hostClock() reading {
	var real, raw unix.Timespec
	for _, c := range []struct {
		id int32
		to *unix.Timespec
	}{{unix.CLOCK_REALTIME, &real}, {unix.CLOCK_MONOTONIC_RAW, &raw}} {
		if err := unix.ClockGettime(c.id, c.to); err != nil {
			panic(err) // cannot fail on Linux
		}
	}
	return reading{time.Now(), time.Duration(real.Nano() - raw.Nano())}
}

// lookAtHost describes the machine. What Docker adds for containers is left out:
// nothingLeft looks for that.
func lookAtHost(t *testing.T, dir string) map[string]string {
	seen := lookAtNetwork(t)
	seen["nftables with Docker's"] = ruleset(true)
	seen["mounts"] = lines(t, "/proc/self/mountinfo", func(l string) bool {
		return strings.Contains(l, "/docker/") || strings.Contains(l, "/containerd/")
	})
	for _, file := range []string{"tcp", "tcp6"} {
		seen["listening "+file] = listening(t, "/proc/net/"+file)
	}
	for _, file := range []string{"/etc/hosts", "/etc/passwd", "/etc/resolv.conf", "/etc/group"} {
		text, _ := os.ReadFile(file) // not every machine has it
		seen[file] = fmt.Sprintf("%x", sha256.Sum256(text))
	}
	for _, folder := range []string{"/var/lib/redis", "/var/lib/etcd", "/var/lib/zookeeper", "/var/lib/postgresql"} {
		seen[folder] = tree(folder)
	}
	seen["files beside the run's folder"] = tree(dir)
	return seen
}

// lookAtNetwork describes what not even a run may change for a moment.
func lookAtNetwork(t *testing.T) map[string]string {
	docker := map[int]bool{}
	var links, routes []string
	var all []netlink.Link
	var list []netlink.Route
	var err error
	for range 100 { // a list that changes while it is read is read again
		all, err = netlink.LinkList()
		if err == nil {
			list, err = netlink.RouteList(nil, netlink.FAMILY_ALL)
		}
		if !errors.Is(err, netlink.ErrDumpInterrupted) {
			break
		}
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, l := range all {
		a := l.Attrs()
		if strings.HasPrefix(a.Name, "br-") || strings.HasPrefix(a.Name, "veth") || a.Name == "docker0" {
			docker[a.Index] = true
			continue
		}
		addrs, err := netlink.AddrList(l, netlink.FAMILY_ALL)
		if err != nil {
			continue // it has gone meanwhile
		}
		links = append(links, fmt.Sprintln(a.Name, a.HardwareAddr, a.MTU, a.OperState, addrs))
	}
	for _, r := range list {
		if !docker[r.LinkIndex] {
			routes = append(routes, fmt.Sprintln(r))
		}
	}
	slices.Sort(routes)
	return map[string]string{"links": strings.Join(links, ""), "routes": strings.Join(routes, ""), "nftables": ruleset(false)}
}

// ruleset describes the tables without counters and without the rules of Docker's
// bridges. Docker takes rules out and in again while it makes networks, so its tables
// are for before and after a run; a cut makes a table of its own.
func ruleset(docker bool) string {
	conn, err := nftables.New()
	if err != nil {
		return "unknown: " + err.Error()
	}
	var out strings.Builder
	chains, err := conn.ListChains()
	if err != nil {
		return "unknown: " + err.Error() // an ordinary user may not look
	}
	theirs := map[string]bool{}
	for _, c := range chains {
		if strings.HasPrefix(c.Name, "DOCKER") {
			theirs[c.Table.Name] = true
		}
	}
	for _, c := range chains {
		if theirs[c.Table.Name] && !docker {
			continue
		}
		fmt.Fprintln(&out, c.Table.Family, c.Table.Name, c.Name, c.Type)
		rules, err := conn.GetRules(c.Table, c)
		if err != nil {
			continue // Docker has removed it meanwhile
		}
		for _, r := range rules {
			words, bridge := "", false
			for _, e := range r.Exprs {
				switch e := e.(type) {
				case *expr.Counter:
					continue
				case *expr.Cmp:
					bridge = bridge || bytes.HasPrefix(e.Data, []byte("br-"))
				}
				text, err := json.Marshal(e)
				words += fmt.Sprintf(" %T %s %v", e, text, err)
			}
			if !bridge {
				fmt.Fprintln(&out, "  ", words)
			}
		}
	}
	return out.String()
}

func lines(t *testing.T, path string, skip func(string) bool) string {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(text)) {
		if !skip(line) {
			kept = append(kept, line)
		}
	}
	slices.Sort(kept)
	return strings.Join(kept, "")
}

// listening lists the addresses on which the host listens, without which process.
func listening(t *testing.T, path string) string {
	const listen = "0A" // TCP_LISTEN
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 3 && f[3] == listen {
			found = append(found, f[1]+"\n")
		}
	}
	slices.Sort(found)
	return strings.Join(found, "")
}

// tree lists a folder with sizes. A run without Docker keeps the database that initdb
// made there, and nothing else.
func tree(dir string) string {
	var found []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { // what is not there is no file
		if err != nil {
			return nil
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), "dlmtest-local-") {
			runs, _ := filepath.Glob(filepath.Join(path, "run-*")) // the pattern is well formed
			found = append(found, runs...)
			return fs.SkipDir
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), "TestFaults") {
			return fs.SkipDir // where the run's own folder is
		}
		if strings.HasPrefix(d.Name(), "dlmtest-") && strings.HasSuffix(d.Name(), ".lock") {
			return nil // the first run of a binary makes its agents' volume under it
		}
		if info, err := os.Lstat(path); err == nil && path != dir {
			found = append(found, fmt.Sprintln(path, info.Mode(), info.Size(), info.ModTime()))
		}
		return nil
	})
	return strings.Join(found, "")
}
