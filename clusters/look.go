package clusters

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/internal/near"
)

// only lets one value pass, or one of several before which advice stands second.
func only(value any, advice string, more ...any) func(*examined, place, any) {
	return func(x *examined, at place, is any) {
		for _, v := range append([]any{value}, more...) {
			if text(is) == text(v) {
				return
			}
		}
		x.problem(at, "dlmtest does not support %q: %s", text(is), advice)
	}
}

func lookPositive(x *examined, at place, value any) {
	if n, err := strconv.ParseFloat(text(value), 64); err != nil || n <= 0 {
		x.problem(at, "%q is no limit; write a number above 0", text(value))
	}
}

// lookSize refuses what would mean no limit, or vanish; what else is no size the loader says.
func lookSize(x *examined, at place, value any) {
	if number := strings.TrimRight(text(value), "bBkKmMgGtTpPiI "); number != "" {
		if n, err := strconv.ParseFloat(number, 64); err == nil && n <= 0 {
			x.problem(at, "%q is no limit; write a size above 0, such as 64m", text(value))
		}
	}
}

// within notes what a service takes of the machine beyond a server's share.
func (x *examined) within(service string, l Limits, mounts []Mount) {
	if x.builtIn {
		return
	}
	for _, f := range []struct {
		field    string
		is, most int64
	}{
		{"mem_limit", l.Memory, ServerShares.Memory}, {"memswap_limit", l.MemorySwap, ServerShares.Memory},
		{"shm_size", l.Shm, ServerShares.Memory}, {"pids_limit", l.Pids, ServerShares.Pids},
	} {
		if f.is > f.most {
			x.reach(place{"services", service, f.field}, "%d, which is more than a server's share (%d)", f.is, f.most)
		}
	}
	x.withinMemory(service, mounts)
}

// mostTmpfs is how many file systems in memory a service may have: each takes memory of
// the kernel, too, which nobody counts.
const mostTmpfs = 32

// withinMemory bounds what a service's file systems in memory hold together: without
// Docker no share of memory counts them.
func (x *examined) withinMemory(service string, mounts []Mount) {
	var all, bytes int64
	for _, m := range mounts {
		if m.Type == "tmpfs" {
			all++
			bytes += min(cmp.Or(m.Size, UsualTmpfs), math.MaxInt64/2-bytes)
		}
	}
	at := place{"services", service, "tmpfs"}
	if all > mostTmpfs {
		x.reach(at, "%d file systems in memory, with those of volumes, and a server's share is %d", all, mostTmpfs)
	}
	if bytes > ServerShares.Memory {
		x.reach(at, "%d bytes in memory together (%d where none are said), which is more than a server's share (%d)", bytes, UsualTmpfs, ServerShares.Memory)
	}
}

func lookHostname(x *examined, at place, value any) {
	if text(value) != at.service() {
		x.problem(at, "dlmtest does not support %q: %s", text(value), ownName)
	}
}

func lookExpose(x *examined, at place, value any) {
	for _, port := range list(value) {
		if n, err := strconv.Atoi(strings.TrimSuffix(port, "/tcp")); err != nil || n < 1 || n > 65535 {
			x.problem(at, "dlmtest does not support %q: write each port by itself, as \"6379\"", port)
		}
	}
}

// labelNames are the labels that dlmtest reads.
var labelNames = []string{"dlmtest.data", "dlmtest.holds", "dlmtest.leads", "dlmtest.leases", "dlmtest.time", "dlmtest.version"}

func lookLabels(x *examined, at place, value any) {
	for _, label := range list(value) {
		name, is, _ := strings.Cut(label, "=")
		switch {
		case name == "dlmtest.data":
			if err := placeable(is); err != nil {
				x.problem(at.below(name), "%v", err)
			}
		case slices.Contains(labelNames, name):
		case strings.HasPrefix(name, "dlmtest."):
			x.problem(at, "no label is called %q%s; there are %s", name, near.Hint(name, labelNames), strings.Join(labelNames, ", "))
		default:
			x.note("the label "+name, "dlmtest reads those that begin with dlmtest.")
		}
	}
}

// harmless are the privileges that reach nothing beyond the node.
var harmless = []string{"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "IPC_LOCK", "NET_BIND_SERVICE",
	"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}

func lookCaps(x *examined, at place, value any) {
	for _, name := range list(value) {
		plain := strings.TrimPrefix(strings.ToUpper(name), "CAP_")
		if plain == "KILL" {
			x.problem(at, "dlmtest does not support %q: take it out, it is what the node's agent has before the server", name)
		} else if !slices.Contains(harmless, plain) {
			x.reach(at, "the privilege %q", name)
		}
	}
}

func lookSecurity(x *examined, at place, value any) {
	for _, option := range list(value) {
		name, setting := option, ""
		if at := strings.IndexAny(option, "=:"); at > 0 {
			name, setting = option[:at], option[at+1:]
		}
		switch name {
		case "no-new-privileges":
			if setting != "" && setting != "true" {
				x.problem(at, "dlmtest does not support %q: take it out, no program of a node gains privileges", option)
			}
		case "seccomp", "apparmor", "label":
			if name == "seccomp" && setting != "unconfined" && !json.Valid([]byte(setting)) {
				x.problem(at, "dlmtest does not support %q: write the profile itself, as seccomp={…}", option)
				continue
			}
			x.reach(at, "%q", option)
		default:
			x.problem(at, "dlmtest does not support %q: take it out", option)
		}
	}
}

// lookEnvironment finds variables that a node takes over from the caller.
func lookEnvironment(x *examined, at place, value any) {
	for _, entry := range list(value) {
		name, is, given := strings.Cut(entry, "=")
		if !given || x.allow && is != "" && is == os.Getenv(name) { // the loader has put the value in
			x.variable(at, name)
		}
	}
}

// variable notes that a value of the caller's environment goes into a node. A file may
// name DLMTEST_* as it likes, but for Bearer.
func (x *examined) variable(at place, name string) {
	_, there := os.LookupEnv(name)
	switch {
	case !there || x.set[name]:
	case x.free(name):
		if text := "The compose file takes from the environment: " + name; !slices.Contains(x.notes, text) {
			x.notes = append(x.notes, text)
		}
	default:
		x.reach(at, "the variable $%s of your environment (write $$%s for that of the node)", name, name)
	}
}

// lookEnvFile looks at a file of variables before it is read.
func lookEnvFile(x *examined, at place, value any) {
	real, inside, err := x.inside(text(value))
	switch {
	case os.IsNotExist(err):
		return // the loader says so, where it is required
	case err != nil:
		x.problem(at, "%v", err)
		return
	case !inside:
		x.reach(at, "the file %q, which is not below the compose file's folder", real)
		if !x.allow {
			return
		}
	}
	data, err := bounded.ReadFile(real, bounded.YAML)
	if err != nil {
		x.problem(at, "%v", err)
	}
	x.taken(at, string(data))
}

// mostBound is how many files a folder may have that a node sees: more are not looked at.
const mostBound = 100_000

// list is a list of words, or a mapping as KEY=VALUE, as compose files have both.
func list(value any) (words []string) {
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			words = append(words, text(e))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if v[key] == nil {
				words = append(words, key)
			} else {
				words = append(words, key+"="+text(v[key]))
			}
		}
	case nil:
	default:
		words = append(words, text(v))
	}
	return words
}
