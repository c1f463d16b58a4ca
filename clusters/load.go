package clusters

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"
)

// Load reads the nodes of one profile. An unknown profile is an error that lists
// those the file has; an empty one means the services that have none. Settings
// stand for the file's ${variables}, before those of the environment.
func Load(ctx context.Context, composeYAML []byte, profile string, settings ...Settings) (Project, error) {
	return load(ctx, "docker-compose.yml", composeYAML, profile, settings)
}

// LoadFile is Load for a user's own file, whose relative paths count from its
// folder.
func LoadFile(ctx context.Context, path, profile string, settings ...Settings) (Project, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Project{}, fmt.Errorf("compose file: %w", err)
	}
	return load(ctx, path, text, profile, settings)
}

func load(ctx context.Context, path string, text []byte, profile string, settings []Settings) (Project, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return Project{}, fmt.Errorf("compose file %s: %w", path, err)
	}
	variables := types.NewMapping(os.Environ())
	for _, s := range settings {
		maps.Copy(variables, s)
	}
	logrus.SetLevel(logrus.ErrorLevel) // compose-go warns of what docker-compose 1.29 needs
	details := types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: path, Content: text}},
		Environment: variables,
	}
	file, err := loader.LoadWithContext(ctx, details, func(o *loader.Options) {
		o.SetProjectName("dlmtest", true)
		o.Profiles = []string{profile}
	})
	if err != nil {
		return Project{}, fmt.Errorf("compose file %s%s: %w", path, lineOf(text, err), err)
	}
	return project(path, file, profile)
}

func project(path string, file *types.Project, profile string) (Project, error) {
	p := Project{Profiles: profilesOf(file)}
	if profile != "" && !slices.Contains(p.Profiles, profile) {
		return Project{}, fmt.Errorf("compose file %s: no profile %q; it has %s", path, profile, orNone(p.Profiles))
	}
	for _, s := range file.Services {
		if err := supported(s); err != nil {
			return Project{}, fmt.Errorf("compose file %s: service %s: %w", path, s.Name, err)
		}
		n := nodeOf(s)
		var err error
		if n.MinLease, n.MaxLease, err = leasesOf(s); err != nil {
			return Project{}, fmt.Errorf("compose file %s: service %s: %w", path, s.Name, err)
		}
		p.Nodes = append(p.Nodes, n)
	}
	if len(p.Nodes) == 0 {
		return Project{}, fmt.Errorf("compose file %s: no service without a profile; name one of %s", path, orNone(p.Profiles))
	}
	slices.SortFunc(p.Nodes, byName)
	return p, nil
}

func profilesOf(file *types.Project) []string {
	var all []string
	for _, s := range file.AllServices() {
		all = append(all, s.Profiles...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// supported refuses what would silently change the meaning of a user's file.
func supported(s types.ServiceConfig) error {
	refused := map[string]bool{
		"build without image":                    s.Image == "",
		"privileged":                             s.Privileged,
		"network_mode":                           s.NetworkMode != "",
		"pid":                                    s.Pid != "",
		"ipc":                                    s.Ipc != "",
		"secrets":                                len(s.Secrets) > 0,
		"configs":                                len(s.Configs) > 0,
		"sysctls":                                len(s.Sysctls) > 0,
		"ulimits":                                len(s.Ulimits) > 0,
		"extra_hosts":                            len(s.ExtraHosts) > 0,
		"replicas":                               s.GetScale() != 1,
		"hostname other than the service's name": s.Hostname != "" && s.Hostname != s.Name,
	}
	for what, found := range refused {
		if found {
			return fmt.Errorf("dlmtest does not support %s; take it out", what)
		}
	}
	return nil
}

func nodeOf(s types.ServiceConfig) NodeSpec {
	n := NodeSpec{
		Name: s.Name, Role: roleOf(s.Name), Image: s.Image,
		Entrypoint: s.Entrypoint, Command: s.Command,
		User: s.User, WorkDir: s.WorkingDir,
		CapAdd: s.CapAdd, SecurityOpt: s.SecurityOpt,
		Env: environment(s.Environment), Ports: portsOf(s), Mounts: mountsOf(s),
	}
	for _, d := range s.Devices {
		n.Devices = append(n.Devices, d.Source)
	}
	n.Health = healthOf(s.HealthCheck)
	n.Version = versionOf(s)
	n.Data = s.Labels["dlmtest.data"]
	if command, ok := s.Labels["dlmtest.time"]; ok {
		n.Tells = []string{"bash", "-c", command}
	}
	if command, ok := s.Labels["dlmtest.holds"]; ok {
		n.Holds = []string{"bash", "-c", command, "holds"} // its name, then $1
	}
	if command, ok := s.Labels["dlmtest.leads"]; ok {
		n.Leads = []string{"bash", "-c", command}
	}
	return n
}

// versionOf is the label's command, else what most servers understand.
func versionOf(s types.ServiceConfig) []string {
	if command, ok := s.Labels["dlmtest.version"]; ok {
		return []string{"bash", "-c", command}
	}
	if len(s.Entrypoint) == 0 && len(s.Command) > 0 && s.Command[0] != "sh" && s.Command[0] != "bash" {
		return []string{s.Command[0], "--version"}
	}
	return nil
}

func environment(vars types.MappingWithEquals) []string {
	var env []string
	for key, value := range vars {
		if value != nil {
			env = append(env, key+"="+*value)
		}
	}
	slices.Sort(env)
	return env
}

func portsOf(s types.ServiceConfig) []int {
	var ports []int
	for _, e := range s.Expose {
		if p, err := strconv.Atoi(strings.TrimSuffix(e, "/tcp")); err == nil {
			ports = append(ports, p)
		}
	}
	for _, p := range s.Ports {
		ports = append(ports, int(p.Target))
	}
	return ports
}

func mountsOf(s types.ServiceConfig) []Mount {
	var mounts []Mount
	for _, v := range s.Volumes {
		mounts = append(mounts, Mount{Type: v.Type, Source: v.Source, Target: v.Target, ReadOnly: v.ReadOnly})
	}
	for _, t := range s.Tmpfs {
		target, _, _ := strings.Cut(t, ":")
		mounts = append(mounts, Mount{Type: "tmpfs", Target: target})
	}
	return mounts
}

func healthOf(h *types.HealthCheckConfig) []string {
	if h == nil || h.Disable || len(h.Test) < 2 {
		return nil
	}
	if h.Test[0] == "CMD-SHELL" {
		return []string{"/bin/sh", "-c", h.Test[1]}
	}
	return h.Test[1:]
}

func roleOf(name string) string {
	role, _ := splitNumber(name)
	return role
}

// byName sorts redlock-10 after redlock-9.
func byName(a, b NodeSpec) int {
	roleA, a1 := splitNumber(a.Name)
	roleB, b1 := splitNumber(b.Name)
	return cmp.Or(cmp.Compare(roleA, roleB), cmp.Compare(a1, b1))
}

func splitNumber(name string) (string, int) {
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		return name, 0
	}
	number, err := strconv.Atoi(name[at+1:])
	if err != nil {
		return name, 0
	}
	return name[:at], number
}

// leasesOf reads the label that says between which bounds a server's configuration
// keeps leases, such as "400ms 60s".
func leasesOf(s types.ServiceConfig) (low, high time.Duration, err error) {
	label, ok := s.Labels["dlmtest.leases"]
	if !ok {
		return 0, 0, nil
	}
	first, second, _ := strings.Cut(label, " ")
	low, lowErr := time.ParseDuration(first)
	high, highErr := time.ParseDuration(second)
	if lowErr != nil || highErr != nil || low > high {
		return 0, 0, fmt.Errorf(`label dlmtest.leases: %q: want the shortest and the longest lease, such as "400ms 60s"`, label)
	}
	return low, high, nil
}
