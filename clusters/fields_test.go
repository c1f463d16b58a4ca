package clusters

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
)

// TestEveryFieldIsDecided walks all fields of compose-go's types: a new one fails here
// until somebody says what becomes of it, and until then a file that has it is refused.
func TestEveryFieldIsDecided(t *testing.T) {
	seen := map[string]bool{}
	eachField(reflect.TypeFor[types.Project](), "", func(path string) bool {
		f, known := fields[path]
		seen[path] = true
		if !known {
			t.Errorf("nobody has decided on %s", path)
		}
		return known && parents[path] && f.treatment != refused
	})
	if len(seen) < 150 {
		t.Errorf("only %d fields were seen", len(seen))
	}
	for path, f := range fields {
		if !seen[path] {
			t.Errorf("%s is decided, and compose-go has no such field", path)
		}
		if f.treatment == refused && f.say == "" || f.treatment == idle && f.say == "" {
			t.Errorf("%s: nothing says what to do instead, or why it changes nothing", path)
		}
	}
}

// eachField calls see with the path of each field as a file has it, and goes into those
// of which it says so.
func eachField(t reflect.Type, path string, see func(string) bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		eachField(t.Elem(), path, see)
	case reflect.Map:
		if see(path + ".*") {
			eachField(t.Elem(), path+".*", see)
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
			switch {
			case f.Anonymous:
				eachField(f.Type, path, see)
			case name == "-" || name == "#extensions" || f.Type == reflect.TypeFor[types.Extensions]() || !f.IsExported():
			default:
				if name == "" {
					name = strings.ToLower(f.Name)
				}
				below := strings.TrimPrefix(path+"."+name, ".")
				if see(below) && f.Type.Kind() != reflect.String {
					eachField(f.Type, below, see)
				}
			}
		}
	}
}

// kept are fields of a service, and what becomes of them.
var kept = map[string]struct {
	yaml string // of a service that has an image
	want string // of the error; "": it is kept
	see  func(n NodeSpec) bool
}{
	"cap_drop":   {"cap_drop: [ALL]", "", func(n NodeSpec) bool { return slices.Equal(n.CapDrop, []string{"ALL"}) }},
	"read_only":  {"read_only: true", "", func(n NodeSpec) bool { return n.Limits.ReadOnly }},
	"mem_limit":  {"mem_limit: 64m", "", func(n NodeSpec) bool { return n.Limits.Memory == 64<<20 }},
	"pids_limit": {"pids_limit: 50", "", func(n NodeSpec) bool { return n.Limits.Pids == 50 }},
	"cpus":       {"cpus: 0.5", "", func(n NodeSpec) bool { return n.Limits.CPUs == 0.5 }},
	"shm_size":   {"shm_size: 32m", "", func(n NodeSpec) bool { return n.Limits.Shm == 32<<20 }},
	"ulimits": {"ulimits: {nofile: {soft: 100, hard: 200}, nproc: 60}", "", func(n NodeSpec) bool {
		return slices.Equal(n.Limits.Ulimits, []Ulimit{{"nofile", 100, 200}, {"nproc", 60, 60}})
	}},
	"deploy.resources": {`deploy: {resources: {limits: {cpus: "0.25", memory: 32m, pids: 9}}}`, "", func(n NodeSpec) bool { return n.Limits.CPUs == 0.25 && n.Limits.Memory == 32<<20 && n.Limits.Pids == 9 }},
	"tmpfs": {`tmpfs: ["/a:size=64k,mode=700"]`, "", func(n NodeSpec) bool {
		return slices.Equal(n.Mounts, []Mount{{Type: "tmpfs", Target: "/a", Size: 64 << 10, Mode: 0o700}})
	}},
	"tmpfs, long": {`volumes: [{type: tmpfs, target: /a, tmpfs: {size: 65536, mode: 448}}]`, "", func(n NodeSpec) bool {
		return slices.Equal(n.Mounts, []Mount{{Type: "tmpfs", Target: "/a", Size: 64 << 10, Mode: 0o700}})
	}},
	"nocopy": {`volumes: ["data:/a/../b:nocopy"]`, "", func(n NodeSpec) bool {
		return slices.Equal(n.Mounts, []Mount{{Type: "volume", Source: "data", Target: "/b", NoCopy: true}})
	}},
	"off is not asked for":     {"privileged: false", "", func(NodeSpec) bool { return true }},
	"no-new-privileges":        {"security_opt: [no-new-privileges:true]", "", func(n NodeSpec) bool { return len(n.SecurityOpt) == 1 }},
	"restart no":               {`restart: "no"`, "", func(NodeSpec) bool { return true }},
	"an extension":             {"x-mine: {cap_add: [ALL]}", "", func(n NodeSpec) bool { return len(n.CapAdd) == 0 }},
	"harmless cap_add":         {"cap_add: [IPC_LOCK, cap_chown]", "", func(n NodeSpec) bool { return len(n.CapAdd) == 2 }},
	"userns_mode":              {"userns_mode: host", "userns_mode: dlmtest does not support it", nil},
	"networks":                 {"networks: [mine]", "networks: dlmtest does not support it", nil},
	"network_mode":             {"network_mode: host", "network_mode: dlmtest does not support it", nil},
	"build":                    {"build: .", "build: dlmtest does not support it, and leaves nothing out without a word: build the image yourself", nil},
	"gpus":                     {"gpus: all", "gpus: dlmtest does not support it", nil},
	"dns":                      {"dns: 192.0.2.1", "dns: dlmtest does not support it", nil},
	"pid":                      {"pid: host", "pid: dlmtest does not support it", nil},
	"ipc":                      {"ipc: host", "ipc: dlmtest does not support it", nil},
	"cgroup_parent":            {"cgroup_parent: /", "cgroup_parent: dlmtest does not support it", nil},
	"privileged":               {"privileged: true", "privileged: dlmtest does not support it", nil},
	"restart always":           {"restart: always", `restart: dlmtest does not support "always"`, nil},
	"depends_on":               {"depends_on: [a]", "all nodes start at once", nil},
	"extra_hosts":              {`extra_hosts: ["h:host-gateway"]`, "extra_hosts: dlmtest does not support it", nil},
	"volumes_from":             {"volumes_from: [b]", "volumes_from: dlmtest does not support it", nil},
	"label_file":               {"label_file: /etc/shadow", "label_file: dlmtest does not support it", nil},
	"pre_start":                {"pre_start: [{command: [sh]}]", "pre_start: dlmtest does not support it", nil},
	"use_api_socket":           {"use_api_socket: true", "use_api_socket: dlmtest does not support it", nil},
	"replicas":                 {"deploy: {replicas: 3}", `deploy.replicas: dlmtest does not support "3"`, nil},
	"a restart policy":         {"deploy: {restart_policy: {condition: any}}", "deploy.restart_policy: dlmtest does not support it", nil},
	"reservations":             {"deploy: {resources: {reservations: {devices: [{capabilities: [gpu]}]}}}", "reservations: dlmtest does not support it", nil},
	"published":                {`ports: ["80:8080"]`, "ports.published: dlmtest does not support it", nil},
	"UDP":                      {`expose: ["80/udp"]`, `expose: dlmtest does not support "80/udp"`, nil},
	"unlimited":                {"pids_limit: -1", `"-1" is no limit`, nil},
	"zero":                     {"mem_swappiness: 0", "mem_swappiness: dlmtest does not support it", nil},
	"option of a tmpfs":        {`tmpfs: ["/a:exec"]`, `dlmtest does not support "exec"`, nil},
	"propagation":              {"volumes: [{type: bind, source: ., target: /a, read_only: true, bind: {propagation: rshared}}]", "volumes.bind.propagation: dlmtest does not support it", nil},
	"subpath":                  {"volumes: [{type: volume, source: data, target: /a, volume: {subpath: b}}]", "volumes.volume.subpath: dlmtest does not support it", nil},
	"a volume of an image":     {"volumes: [{type: image, source: b, target: /a}]", `volumes.type: dlmtest does not support "image"`, nil},
	"a label that nobody has":  {"labels: {dlmtest.hold: x}", `no label is called "dlmtest.hold"; did you mean "dlmtest.holds"?`, nil},
	"an extension for dlmtest": {"x-dlmtest-data: /var", `dlmtest reads no x- field; did you mean "dlmtest.data"?`, nil},
	"a file of its profile":    {"security_opt: [seccomp:./mine.json]", "write the profile itself", nil},
}

// The loader has fields that no type has a word for; the two ways to write a file must
// meet the same table.
func TestEveryFieldIsRefusedOrKept(t *testing.T) {
	for name, c := range kept {
		t.Run(name, func(t *testing.T) {
			text := "services:\n  a:\n    image: x\n    " + c.yaml + "\nvolumes: {data: }\n"
			p, err := Load(t.Context(), []byte(text), "")
			switch {
			case c.want == "" && (err != nil || !c.see(p.Nodes[0])):
				t.Errorf("%v, %+v", err, p.Nodes)
			case c.want != "":
				wantError(t, err, c.want)
				wantError(t, err, "docker-compose.yml:4: service a: ")
			}
		})
	}
}

// TestProjectFields: what stands beside the services.
func TestProjectFields(t *testing.T) {
	for text, want := range map[string]string{
		"networks: {default: {driver: host}}":                                       "networks: dlmtest does not support it",
		"secrets: {s: {file: /etc/shadow}}":                                         "secrets: dlmtest does not support it",
		"configs: {c: {file: /etc/shadow}}":                                         "configs: dlmtest does not support it",
		"volumes: {v: {external: true}}":                                            "volumes.v.external: dlmtest does not support it",
		"volumes: {v: {name: other}}":                                               "volumes.v.name: dlmtest does not support it",
		"volumes: {v: {driver_opts: {type: none, o: bind, device: /}}}":             "volumes.v.driver_opts: dlmtest does not support it",
		"volumes: {v: {driver: nfs}}":                                               `dlmtest does not support "nfs"`,
		"jobs: {j: {image: x, triggers: {manual: true}}}":                           "jobs: dlmtest does not support it",
		"x-any: &x {a: 1}\nname: mine\nvolumes: {v: {driver: local}, w: , x: {}}\n": "",
	} {
		_, err := Load(t.Context(), []byte("services: {a: {image: x}}\n"+text+"\n"), "")
		if want != "" {
			wantError(t, err, want)
		} else if err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// What changes nothing is said, once.
func TestNotes(t *testing.T) {
	p, err := Load(t.Context(), []byte("name: n\nservices:\n  a: &a\n    image: x\n    healthcheck: {test: [CMD, x], interval: 9s}\n    labels: {mine: 1}\n  b: *a\n"), "")
	if err != nil || len(p.Notes) != 3 || !strings.Contains(strings.Join(p.Notes, "\n"), "healthcheck.interval of the compose file changes nothing: a node is asked") {
		t.Errorf("%q %v", p.Notes, err)
	}
	if embedded, err := Load(t.Context(), Compose, "redis"); err != nil || len(embedded.Reaches) > 0 {
		t.Errorf("dlmtest's own file: %q %v", embedded.Reaches, err)
	}
}
