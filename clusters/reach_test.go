package clusters

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

// folder makes a compose file with files beside it, and one that is outside.
func folder(t *testing.T) (dir, outside string) {
	t.Helper()
	root := t.TempDir()
	dir, outside = filepath.Join(root, "mine"), filepath.Join(root, "outside")
	for path, text := range map[string]string{
		"mine/a.conf": "a", "mine/vars.env": "A=1\n", "mine/takes.env": "A=${SECRET_OF_THIS_TEST}\n", "mine/sub/inc.yml": "services: {b: {image: y}}\n",
		"mine/sub/up.yml": "include: [../ok.yml]\n", "mine/ok.yml": "services: {c: {image: z}}\n", "mine/base.yml": "services: {base: {image: x, user: '7'}}\n",
		"mine/out.yml": "include: [../outside/inc.yml]\n", "mine/bad.yml": "services: {b: {image: y, cap_add: [ALL]}}\n",
		"outside/vars.env": "B=2\n", "outside/inc.yml": "services: {b: {image: y}}\n",
	} {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"link.conf": "../outside/vars.env", "root": "/", "link.yml": "../outside/inc.yml"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return dir, outside
}

// TestReach: what reaches the host is refused by name, and let through and listed with
// the flag.
func TestReach(t *testing.T) {
	t.Setenv("SECRET_OF_THIS_TEST", "geheim")
	t.Setenv("DLMTEST_OF_THIS_TEST", "known")
	t.Setenv(Bearer, "bearer-geheim")
	dir, outside := folder(t)
	for name, c := range map[string]struct{ yaml, want string }{
		"root, writable":         {`volumes: ["/:/host"]`, `the bind mount of "/", which is not below the compose file's folder and can be written`},
		"root":                   {`volumes: ["/:/host:ro"]`, `the bind mount of "/", which is not below`},
		"root by a link":         {`volumes: ["./root:/host:ro"]`, `the bind mount of "/", which is not below`},
		"outside":                {`volumes: ["../outside:/o:ro"]`, `/outside", which is not below`},
		"outside by a link":      {`volumes: ["./link.conf:/o:ro"]`, `/outside/vars.env", which is not below`},
		"home":                   {`volumes: ["~:/home:ro"]`, `which is not below`},
		"writable":               {`volumes: ["./a.conf:/a"]`, `which can be written (add :ro`},
		"writable, long":         {`volumes: [{type: bind, source: ./a.conf, target: /a}]`, `which can be written`},
		"docker.sock":            {`volumes: ["/var/run/docker.sock:/var/run/docker.sock:ro"]`, `docker.sock", which is not below`},
		"a socket":               {`volumes: ["./s:/s:ro"]`, `which is a socket`},
		"a socket in a folder":   {`volumes: [".:/all:ro"]`, `which has a socket, a pipe or a device in it, "`},
		"rtprio":                 {`ulimits: {rtprio: 1}`, `the ulimit "rtprio" of 1`},
		"many tmpfs":             {"tmpfs: [" + numbered("/t%d:size=1k,", 33) + "]", `33 file systems in memory`},
		"much tmpfs":             {"tmpfs: ['/t:size=3g', '/u:size=2g']", `bytes in memory together`},
		"tmpfs without a size":   {"tmpfs: [/a, /b, /c, /d, /e]", `bytes in memory together`},
		"tmpfs as a volume":      {"volumes: [{type: tmpfs, target: /t, tmpfs: {size: 900g}}]", `bytes in memory together`},
		"much memory":            {`mem_limit: 900g`, `966367641600, which is more than a server's share`},
		"memory, the other way":  {`deploy: {resources: {limits: {memory: 900g}}}`, `966367641600, which is more than a server's share`},
		"swap":                   {`memswap_limit: 900g`, `966367641600, which is more than a server's share`},
		"many processes":         {`pids_limit: 4000000`, `4000000, which is more than a server's share`},
		"much shm":               {`shm_size: 500g`, `536870912000, which is more than a server's share`},
		"a device as a file":     {`volumes: ["/dev/null:/n:ro"]`, `and is a socket, a pipe or a device`},
		"cap_add ALL":            {`cap_add: [ALL]`, `the privilege "ALL"`},
		"cap_add SYS_ADMIN":      {`cap_add: [cap_sys_admin]`, `the privilege "cap_sys_admin"`},
		"cap_add NET_ADMIN":      {`cap_add: [NET_ADMIN]`, `the privilege "NET_ADMIN"`},
		"devices":                {`devices: [/dev/null]`, `the device "/dev/null"`},
		"seccomp":                {`security_opt: [seccomp=unconfined]`, `"seccomp=unconfined"`},
		"seccomp, the other way": {`security_opt: ["seccomp:unconfined"]`, `"seccomp:unconfined"`},
		"a seccomp profile":      {`security_opt: ['seccomp={"defaultAction":"SCMP_ACT_ALLOW"}']`, `"seccomp={\"defaultAction\":\"SCMP_ACT_ALLOW\"}"`},
		"apparmor":               {`security_opt: [apparmor=unconfined]`, `"apparmor=unconfined"`},
		"env_file":               {`env_file: /etc/shadow`, `the file "/etc/shadow", which is not below`},
		"env_file outside":       {`env_file: [{path: ../outside/vars.env}]`, `outside/vars.env", which is not below`},
		"env_file by a link":     {`env_file: ./link.conf`, `outside/vars.env", which is not below`},
		"a variable":             {`command: [x, "${SECRET_OF_THIS_TEST}"]`, `the variable $SECRET_OF_THIS_TEST of your environment`},
		"a variable, short":      {`command: echo $SECRET_OF_THIS_TEST`, `the variable $SECRET_OF_THIS_TEST`},
		"with a default":         {`image: "x:${SECRET_OF_THIS_TEST:-1}"`, `the variable $SECRET_OF_THIS_TEST`},
		"in a default":           {`command: "${NOT_THERE:-${SECRET_OF_THIS_TEST}}"`, `the variable $SECRET_OF_THIS_TEST`},
		"required":               {`command: "${SECRET_OF_THIS_TEST:?give it}"`, `the variable $SECRET_OF_THIS_TEST`},
		"taken over":             {`environment: [SECRET_OF_THIS_TEST]`, `the variable $SECRET_OF_THIS_TEST`},
		"taken over, as a map":   {`environment: {SECRET_OF_THIS_TEST: }`, `the variable $SECRET_OF_THIS_TEST`},
		"the bearer":             {`command: [x, "${DLMTEST_BEARER}"]`, `the variable $DLMTEST_BEARER of your environment`},
		"the bearer, taken over": {`environment: [DLMTEST_BEARER]`, `the variable $DLMTEST_BEARER of your environment`},
		"in an env_file":         {`env_file: takes.env`, `the variable $SECRET_OF_THIS_TEST`},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "compose.yml")
			text := "services:\n  a:\n    image: x\n    " + c.yaml + "\n"
			if strings.HasPrefix(c.yaml, "image") {
				text = "services:\n  a:\n    " + c.yaml + "\n"
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if c.want = strings.ReplaceAll(c.want, "OUT", outside); strings.Contains(text, "docker.sock") {
				if _, err := os.Stat("/var/run/docker.sock"); err != nil {
					t.Skip("there is no Docker")
				}
			}
			_, err := LoadFile(t.Context(), path, "", false)
			wantError(t, err, c.want)
			wantError(t, err, "--allow-host")
			p, err := LoadFile(t.Context(), path, "", true)
			if err != nil || !strings.Contains(strings.Join(p.Reaches, "\n"), c.want) {
				t.Errorf("with --allow-host: %v, listed %q", err, p.Reaches)
			}
		})
	}
}

// numbered are words with the numbers up to n in them, quoted.
func numbered(words string, n int) (all string) {
	for i := range n {
		all += fmt.Sprintf("'"+strings.TrimSuffix(words, ",")+"',", i)
	}
	return all
}

// No flag lets a ulimit take a machine away: what is no bound, or nobody's, is refused.
func TestUlimitsHaveAnEnd(t *testing.T) {
	for yaml, want := range map[string]string{
		"rtprio: 99": "from 0 to 1", "nice: 40": "from 0 to 20", "msgqueue: -1": "from 0 to 67108864", "sigpending: {soft: 1, hard: 99999999}": "from 0 to 1048576",
		"nofile: 1000000000": "from 0 to 1048576", "core: -1": "from 0 to 1073741824", "nofiles: 7": `no ulimit is called "nofiles"`, "fsize: -2": "or -1 for no limit",
		"memlock: -1": "", "nofile: {soft: 100, hard: 65536}": "", "core: 0": "", "stack: 8388608": "",
	} {
		path := filepath.Join(t.TempDir(), "compose.yml")
		if err := os.WriteFile(path, []byte("services: {a: {image: x, ulimits: {"+yaml+"}}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, allow := range []bool{false, true} {
			_, err := LoadFile(t.Context(), path, "", allow)
			if want == "" && err != nil {
				t.Errorf("%s: %v", yaml, err)
			} else if want != "" {
				wantError(t, err, want)
			}
		}
	}
}

// A folder of everybody's is not a compose file's own where it lies in it.
func TestEverybodysFolder(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	path := filepath.Join(tmp, "compose.yml")
	if err := os.WriteFile(path, []byte("services: {a: {image: x, volumes: ['.:/x:ro']}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := LoadFile(t.Context(), path, "", false)
	wantError(t, err, "which is not below the compose file's folder")
}

// A folder with more than can be looked at may have anything in it.
func TestFolderWithTooMuch(t *testing.T) {
	dir, _ := folder(t)
	sub := filepath.Join(dir, "sub")
	if what := Lives(sub, 3); what != "" {
		t.Error(what)
	}
	if what := Lives(sub, 2); !strings.Contains(what, "more than 2 files") {
		t.Errorf("%q", what)
	}
}

// What is no limit is refused, and does not vanish.
func TestNoReachWithoutLimit(t *testing.T) {
	dir, _ := folder(t)
	path := filepath.Join(dir, "compose.yml")
	for _, field := range []string{"mem_limit: 0", "mem_limit: -1", "memswap_limit: -1", "mem_reservation: 0", "shm_size: 0", "shm_size: 0m", "pids_limit: -1", "cpus: 0", "deploy: {resources: {limits: {memory: '0'}}}"} {
		if err := os.WriteFile(path, []byte("services: {a: {image: x, "+field+"}}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadFile(t.Context(), path, "", true)
		if wantError(t, err, "is no limit"); t.Failed() {
			t.Log(field)
		}
	}
}

// TestNoReach: what is ordinary needs no flag.
func TestNoReach(t *testing.T) {
	t.Setenv("DLMTEST_OF_THIS_TEST", "known")
	dir, _ := folder(t)
	path := filepath.Join(dir, "compose.yml")
	text := `include: [sub/inc.yml, {path: sub/up.yml}]
services:
  a:
    extends: {file: base.yml, service: base}
    command: echo $$HOME "${NOT_IN_THIS_TEST:-x}" $DLMTEST_OF_THIS_TEST # $HOME
    environment: [NOT_IN_THIS_TEST]
    env_file: ["vars.env", {path: none.env, required: false}]
    volumes: ["./a.conf:/a:ro", "./sub:/all:ro", "data:/data"]
  other:
    profiles: [other]
    image: x
    command: $HOME
    cap_add: [ALL]
volumes: {data: }
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := LoadFile(t.Context(), path, "", false)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range p.Nodes {
		names = append(names, n.Name)
	}
	a := p.Nodes[0]
	if !slices.Equal(names, []string{"a", "b", "c"}) || len(p.Reaches) > 0 || a.User != "7" || !slices.Equal(a.Env, []string{"A=1"}) ||
		!slices.Equal(a.Command, []string{"echo", "$HOME", "x", "known"}) {
		t.Errorf("%q %+v %q", names, a, p.Reaches)
	}
	if want := []string{"The compose file takes from the environment: DLMTEST_OF_THIS_TEST"}; !slices.Equal(p.Notes, want) {
		t.Errorf("notes %q", p.Notes)
	}
	if _, err = LoadFile(t.Context(), path, "other", false); err == nil || !strings.Contains(err.Error(), `the variable $HOME`) || !strings.Contains(err.Error(), `"ALL"`) {
		t.Errorf("a service of a profile that is asked for: %v", err)
	}
}

// The built-in file has the lock service take its token.
func TestBuiltInTakesBearer(t *testing.T) {
	t.Setenv(Bearer, "bearer-geheim")
	p, err := Load(t.Context(), []byte("services: {a: {image: x, environment: {A: '${DLMTEST_BEARER}'}}}\n"), "")
	if err != nil || !slices.Equal(p.Nodes[0].Env, []string{"A=bearer-geheim"}) {
		t.Errorf("%v %v", err, p.Nodes)
	}
}

// TestFilesStayInside: neither way to read another file leads out, with or without the flag.
func TestFilesStayInside(t *testing.T) {
	dir, outside := folder(t)
	for text, want := range map[string]string{
		"include: [../outside/inc.yml]":                                                             "is not below the compose file's folder",
		"include: [" + outside + "/inc.yml]":                                                        "is not below the compose file's folder",
		"include: [link.yml]":                                                                       "is not below the compose file's folder",
		"include: [out.yml]":                                                                        "is not below the compose file's folder",
		"include: [{path: [ok.yml, ../outside/inc.yml]}]":                                           "is not below the compose file's folder",
		"include: [{path: ok.yml, env_file: /etc/shadow}]":                                          "include.env_file: dlmtest does not support it",
		"include: [{path: ok.yml, project_directory: /}]":                                           "include.project_directory: dlmtest does not support it",
		"include: ['${DIR}/inc.yml']":                                                               "without a variable",
		"include: [nowhere.yml]":                                                                    "no such file",
		"include: [bad.yml]":                                                                        `the privilege "ALL"`,
		"services: {a: {extends: {file: ../outside/inc.yml, service: b}}}":                          "is not below the compose file's folder",
		"x-k: &k include\n*k : [../outside/inc.yml]":                                                "an alias (*k) as the name of a field",
		"!!binary aW5jbHVkZQ==: [../outside/inc.yml]":                                               "does not support !!binary",
		"!<tag:yaml.org,2002:binary> aW5jbHVkZQ==: [../outside/inc.yml]":                            "does not support !!binary",
		"include: [!!binary Li4vb3V0c2lkZS9pbmMueW1s]":                                              "does not support !!binary",
		"x-k: &k extends\nservices: {a: {*k : {file: ../outside/inc.yml, service: b}}}":             "an alias (*k) as the name of a field",
		"services: {a: {extends: {!!binary ZmlsZQ==: ../outside/inc.yml, service: b}}}":             "does not support !!binary",
		"services: {a: {extends: {file: !!binary L2V0Yy9wYXNzd2Q=, service: b}}}":                   "does not support !!binary",
		"x-f: &f {file: ../outside/inc.yml}\nservices: {a: {extends: {<<: [*f], service: b}}}":      "is not below the compose file's folder",
		"x-f: &f {file: ../outside/inc.yml}\nservices: {a: {extends: {!!merge m: *f, service: b}}}": "does not support !!merge",
		"x-e: &e {extends: {file: /etc/passwd, service: b}}\nservices: {a: {<<: *e}}":               "is not below the compose file's folder",
	} {
		path := filepath.Join(dir, "compose.yml")
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := LoadFile(t.Context(), path, "", false)
		wantError(t, err, want)
		if _, err = LoadFile(t.Context(), path, "", true); !strings.Contains(text, "bad.yml") {
			wantError(t, err, want)
		}
	}
	if err := os.Symlink("/etc/shadow", filepath.Join(dir, "sub", ".env")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "compose.yml")
	if err := os.WriteFile(path, []byte("include: [sub/inc.yml]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := LoadFile(t.Context(), path, "", true)
	wantError(t, err, "the .env beside")
	env := filepath.Join(dir, "sub", ".env")
	for want, put := range map[string]func() error{ // the loader would wait for the one and read all of the other
		"is a pipe": func() error { return syscall.Mkfifo(env, 0o600) },
		"too large": func() error { return errors.Join(os.WriteFile(env, nil, 0o600), os.Truncate(env, 1<<30)) },
	} {
		if err := errors.Join(os.Remove(env), put()); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { _, err := LoadFile(t.Context(), path, "", true); ended <- err }()
		select {
		case err := <-ended:
			wantError(t, err, want)
		case <-time.After(eventually.Most):
			t.Fatal("it waits for a pipe")
		}
	}
}

// The runtime local says which limits it cannot keep.
func TestLocalRefusesLimits(t *testing.T) {
	p, err := Load(t.Context(), []byte("services: {a: {image: x, command: 'true', mem_limit: 64m, user: '7', pids_limit: 5, read_only: false}}\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = resolveLocal(p.Nodes)
	wantError(t, err, "node a: the runtime local cannot honour mem_limit, pids_limit, user of the compose file")
}
