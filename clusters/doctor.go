package clusters

import (
	"context"
	"slices"

	"github.com/dlmtest/dlmtest/clusters/local"
)

// Finding is one thing that a runtime needs, or that some of its faults need,
// and whether it is here.
type Finding struct {
	Runtime string // docker or local
	What    string
	Needed  bool   // no run works without it; otherwise only some faults or servers need it
	OK      bool   //
	Detail  string // what was found, or how it failed
	Fix     string // what to install or set; empty if OK
}

// Doctor tries what works on this machine, per runtime, instead of guessing from
// settings: it makes a container and namespaces, and removes them. self is the
// dlmtest binary. Nothing is pulled, built or installed. Go is not needed.
func Doctor(ctx context.Context, self string) []Finding {
	var docker, here []Finding
	_ = parallel(2, func(i int) error {
		if i == 0 {
			docker = doctorDocker(ctx, self)
		} else {
			here = doctorLocal(ctx, self)
		}
		return nil
	})
	return append(docker, here...)
}

// Works tells whether a runtime has all that it cannot do without.
func Works(findings []Finding, runtime string) bool {
	seen := false
	for _, f := range findings {
		if f.Runtime != runtime || !f.Needed {
			continue
		}
		if !f.OK {
			return false
		}
		seen = true
	}
	return seen
}

// trialHelp says what a trial is good for, and what to do when it fails.
var trialHelp = map[string]struct{ use, fix string }{
	local.TryMounts: {"nodes get a root folder of their own",
		"Linux 5.12 or newer; inside a container, start that with --security-opt seccomp=unconfined or --privileged"},
	local.TryProc: {"nodes see their own processes", "inside a container, start that with --security-opt systempaths=unconfined or --privileged"},
	local.TryVeth: {"nodes have a network of their own", "as root: modprobe -a veth bridge (or a kernel with CONFIG_VETH and CONFIG_BRIDGE)"},
	local.TrySeal: {"programs under test are sealed off from dlmtest",
		"as root: sysctl -w user.max_user_namespaces=10000; inside a container, start that with --security-opt " +
			"systempaths=unconfined, or use the runtime docker"},
	local.TryNft:    {"partitions", "as root: modprobe nf_tables (or a kernel with CONFIG_NF_TABLES and CONFIG_NF_TABLES_INET)"},
	local.TryFuse:   {"crashes that lose unsynced data, slow disks", "as root: modprobe fuse && chmod 666 /dev/fuse"},
	local.TryPtrace: {"clock faults", "as root: sysctl -w kernel.yama.ptrace_scope=1; inside a container, start that with --cap-add SYS_PTRACE"},
}

// Fix says what to install or set where something that a fault needs is missing, by
// its name among the findings.
func Fix(need string) string { return trialHelp[need].fix }

// trialFindings turns trials into findings. What was not tried is not OK, for
// the given reason.
func trialFindings(runtime string, names []string, trials []local.Trial, reason string) []Finding {
	var found []Finding
	for _, name := range names {
		help := trialHelp[name]
		f := Finding{Runtime: runtime, What: name, Needed: slices.Contains(local.Needed, name)}
		at := slices.IndexFunc(trials, func(t local.Trial) bool { return t.What == name })
		switch {
		case at < 0:
			f.Detail, f.Fix = "not tried: "+reason, "first what is above"
		case trials[at].Error != "":
			f.Detail, f.Fix = "for "+help.use+": "+trials[at].Error, help.fix
		default:
			f.OK, f.Detail = true, "works: "+help.use
		}
		found = append(found, f)
	}
	return found
}
