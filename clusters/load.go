package clusters

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/sirupsen/logrus"

	"github.com/dlmtest/dlmtest/internal/bounded"
)

// Load reads the nodes of one profile. An unknown profile is an error that lists
// those the file has; an empty one means the services that have none. Settings
// stand for the file's ${variables}, before those of the environment.
func Load(ctx context.Context, composeYAML []byte, profile string, settings ...Settings) (Project, error) {
	return load(ctx, &examined{path: "docker-compose.yml", builtIn: true}, composeYAML, profile, settings)
}

// LoadFile is Load for a user's own file, whose relative paths count from its
// folder. What is neither honoured nor known to change nothing is refused by name, and
// unless allowHost so is what reaches the host; Project.Reaches lists it.
func LoadFile(ctx context.Context, path, profile string, allowHost bool, settings ...Settings) (Project, error) {
	text, err := bounded.ReadNamed(path, bounded.YAML)
	if err != nil {
		return Project{}, fmt.Errorf("compose file: %w", err)
	}
	return load(ctx, &examined{path: path, allow: allowHost}, text, profile, settings)
}

func load(ctx context.Context, x *examined, text []byte, profile string, settings []Settings) (Project, error) {
	path := x.path
	if err := bounded.CheckYAML(path, text); err != nil {
		return Project{}, fmt.Errorf("compose file: %w", err)
	}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return Project{}, fmt.Errorf("compose file %s: %w", path, err)
	}
	x.folder, x.set, x.docker = dir, map[string]bool{}, map[string][]string{}
	x.scan(filepath.Join(dir, filepath.Base(path)), text, map[string]bool{})
	if err := x.err(); err != nil { // before any other file is read
		return Project{}, err
	}
	file, err := x.load(ctx, text, profile, settings)
	if err != nil {
		return Project{}, err
	}
	return x.nodes(file, profile)
}

// load has compose-go make the model of the file, and of that the project once each
// field has been looked at: it reads the files that the fields name.
func (x *examined) load(ctx context.Context, text []byte, profile string, settings []Settings) (*types.Project, error) {
	logrus.SetLevel(logrus.ErrorLevel) // compose-go warns of what docker-compose 1.29 needs
	details := types.ConfigDetails{
		WorkingDir:  x.folder,
		ConfigFiles: []types.ConfigFile{{Filename: x.path, Content: text}},
		Environment: x.environment(settings),
	}
	options := func(o *loader.Options) {
		o.SetProjectName("dlmtest", true)
		o.Profiles = []string{profile}
		o.SkipNormalization = true // it adds fields that nobody wrote
	}
	failed := func(err error) error { return fmt.Errorf("compose file %s%s: %w", x.path, lineOf(text, err), err) }
	model, err := loader.LoadModelWithContext(ctx, details, options)
	if err != nil {
		x.took(func(taking) bool { return true }) // a variable that was held back may be why
		return nil, cmp.Or(x.err(), failed(err))
	}
	x.project(model, profile)
	if err := x.err(); err != nil {
		return nil, err
	}
	file, err := loader.ModelToProject(model, loader.ToOptions(&details, []func(*loader.Options){options}), details)
	if err != nil {
		return nil, failed(err)
	}
	return file, nil
}

// nodes makes a node of each service.
func (x *examined) nodes(file *types.Project, profile string) (Project, error) {
	p := Project{Profiles: profilesOf(file), Reaches: x.reaches, Notes: x.notes}
	if profile != "" && !slices.Contains(p.Profiles, profile) {
		return Project{}, fmt.Errorf("compose file %s: no profile %q; it has %s", x.path, profile, orNone(p.Profiles))
	}
	for _, s := range file.Services {
		if err := callable(s.Name); err != nil {
			x.problem(place{"services", s.Name}, "%v", err)
		}
		n := nodeOf(s)
		n.DockerOnly = x.docker[s.Name]
		x.within(s.Name, n.Limits, n.Mounts)
		var err error
		if n.MinLease, n.MaxLease, err = leasesOf(s); err != nil {
			return Project{}, fmt.Errorf("compose file %s: service %s: %w", x.path, s.Name, err)
		}
		p.Nodes = append(p.Nodes, n)
	}
	if err := x.err(); err != nil {
		return Project{}, err
	}
	p.Reaches = x.reaches
	if len(p.Nodes) == 0 {
		return Project{}, fmt.Errorf("compose file %s: no service without a profile; name one of %s", x.path, orNone(p.Profiles))
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

func nodeOf(s types.ServiceConfig) NodeSpec {
	n := NodeSpec{
		Name: s.Name, Role: roleOf(s.Name), Image: s.Image,
		Entrypoint: s.Entrypoint, Command: s.Command,
		User: s.User, WorkDir: s.WorkingDir,
		CapAdd: s.CapAdd, CapDrop: s.CapDrop, Gains: s.CapAdd, SecurityOpt: s.SecurityOpt, Limits: limitsOf(s),
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
		m := Mount{Type: v.Type, Source: v.Source, Target: path.Clean(v.Target), ReadOnly: v.ReadOnly}
		if real, err := filepath.EvalSymlinks(v.Source); err == nil && v.Type == "bind" {
			m.Source = real // what was looked at
		}
		if v.Tmpfs != nil {
			m.Size, m.Mode = int64(v.Tmpfs.Size), v.Tmpfs.Mode
		}
		m.NoCopy = v.Volume != nil && v.Volume.NoCopy
		mounts = append(mounts, m)
	}
	for _, t := range s.Tmpfs {
		m, _ := tmpfsOf(t) // was looked at
		mounts = append(mounts, m)
	}
	return mounts
}

// limitsOf are those of a service, in the old way of writing them or below deploy.
func limitsOf(s types.ServiceConfig) Limits {
	l := Limits{Memory: int64(s.MemLimit), MemorySwap: int64(s.MemSwapLimit), Reservation: int64(s.MemReservation),
		Pids: s.PidsLimit, CPUs: float64(s.CPUS), Shm: int64(s.ShmSize), ReadOnly: s.ReadOnly}
	if s.Deploy != nil && s.Deploy.Resources.Limits != nil {
		r := s.Deploy.Resources.Limits
		l.Memory, l.Pids = cmp.Or(int64(r.MemoryBytes), l.Memory), cmp.Or(r.Pids, l.Pids)
		l.CPUs = cmp.Or(float64(r.NanoCPUs), l.CPUs)
	}
	for name, u := range s.Ulimits {
		l.Ulimits = append(l.Ulimits, Ulimit{name, int64(cmp.Or(u.Soft, u.Single)), int64(cmp.Or(u.Hard, u.Single))})
	}
	slices.SortFunc(l.Ulimits, func(a, b Ulimit) int { return cmp.Compare(a.Name, b.Name) })
	return l
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
