package dlmtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"
	versions "golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const installed = "github.com/dlmtest/dlmtest/cmd/dlmtest@v0.9.9"

// output is what a command prints on both streams.
func output(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return strings.TrimSpace(string(out))
}

// released lays this tree, without files that git does not know, into a module proxy of
// files as v0.9.9, and returns the environment in which the go command finds it.
func released(t *testing.T) []string {
	t.Helper()
	proxy := t.TempDir()
	at := filepath.Join(proxy, "github.com/dlmtest/dlmtest/@v")
	tree := output(t, os.Environ(), "git", "-c", "user.name=dlmtest", "-c", "user.email=dlmtest@localhost", "stash", "create")
	if tree == "" {
		tree = "HEAD" // nothing has changed since
	}
	mod, err := os.ReadFile("go.mod")
	if err := errors.Join(err, os.MkdirAll(at, 0o755)); err != nil {
		t.Fatal(err)
	}
	file, err := modfile.Parse("go.mod", mod, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Replace)+len(file.Exclude) > 0 {
		t.Errorf("go install refuses a go.mod with replace or exclude: %d and %d", len(file.Replace), len(file.Exclude))
	}
	for name, text := range map[string]string{"list": "v0.9.9\n", "v0.9.9.info": `{"Version": "v0.9.9"}`, "v0.9.9.mod": string(mod)} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// An archive of git's is a module's zip, but for the modules inside.
	version, archive := versions.Version{Path: "github.com/dlmtest/dlmtest", Version: "v0.9.9"}, filepath.Join(at, "v0.9.9.zip")
	output(t, os.Environ(), "git", "archive", "--prefix="+version.String()+"/", "-o", archive, tree, ".", ":!"+module)
	checked, err := zip.CheckZip(version, archive)
	if err := errors.Join(err, checked.Err()); err != nil {
		t.Error(err)
	}
	cache := output(t, os.Environ(), "go", "env", "GOMODCACHE")
	return append(os.Environ(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(cache, "cache", "download")+","+output(t, os.Environ(), "go", "env", "GOPROXY"),
		"GONOSUMDB=github.com/dlmtest/*", "GOFLAGS=-modcacherw", "GOWORK=off",
		"GOMODCACHE="+filepath.Join(proxy, "cache"), "GOBIN="+filepath.Join(proxy, "bin"), "XDG_CACHE_HOME="+filepath.Join(proxy, "pins"))
}

// go install takes this module as it is: no replace, no exclude, and files that a zip of
// a module may have. INSTALL=1 builds it from there, with cgo where a C compiler is at hand, and runs the result in
// Docker: its nodes execute the same version, built without cgo.
func TestInstall(t *testing.T) {
	env := released(t)
	if os.Getenv("INSTALL") == "" {
		return // make test-install takes minutes: it downloads and compiles everything
	}
	output(t, append(env, "CGO_ENABLED=1"), "go", "install", installed)
	program := filepath.Join(binFolder(env), "dlmtest")
	if said := output(t, env, program, "--version"); !strings.Contains(said, "v0.9.9") {
		t.Errorf("it calls itself %q", said)
	}
	said := output(t, env, program, "run", "--scenario", "baseline", "--backend", "redis", "--runtime", "docker", "--lease", "1s", "--out", t.TempDir())
	if !strings.Contains(said, "building dlmtest-v0.9.9 with go") {
		t.Errorf("nothing was built again:\n%s", said)
	}
}

func binFolder(env []string) string {
	for _, e := range env {
		if dir, ok := strings.CutPrefix(e, "GOBIN="); ok {
			return dir
		}
	}
	return ""
}
