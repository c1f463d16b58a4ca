package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/dlmtest/dlmtest/docs/schema"
	"github.com/dlmtest/dlmtest/examples/adapters"
	"github.com/dlmtest/dlmtest/examples/start"
	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/locks/libraries"
)

// beginning is what dlmtest init knows of a project.
type beginning struct {
	Language, Name, Backend string
	Module, Package         string // of Go
	Version                 string // of dlmtest; "": the newest
	Adapter, Image          string // of other languages
	Main, Instead, Gate     string
	SchemaLine              string
	Next                    []string // what to type
	copies                  map[string]string
	templates               []string
	conform                 []string // after --conform, in the folder dlmtest
}

// languages are those that init writes for.
var languages = []string{"go", "java", "python"}

const beginLong = `Add the files that test a project's lock with dlmtest: the folder dlmtest with an adapter that
runs unchanged, a gate file and a README, and .github/workflows/dlmtest.yml. Existing files are
never overwritten. For Go the folder is a module of its own, so that the project's go.mod and
go.sum stay as they are. With --conform the adapter is then tried.`

func newInit() *cobra.Command {
	var conform, asJSON bool
	var where string
	cmd := &cobra.Command{
		Use:       "init go|java|python [DIR]",
		Short:     "Write adapter, gate file and CI workflow for your own lock",
		Long:      beginLong,
		Example:   "  dlmtest init go\n  dlmtest init python ../mylock --conform --runtime local",
		Args:      cobra.RangeArgs(1, 2),
		ValidArgs: languages,
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 1 {
				dir = args[1]
			}
			b, err := begin(args[0], dir)
			if err != nil {
				return err
			}
			files, err := b.files(dir)
			if err != nil {
				return err
			}
			if err := writeAll(dir, files); err != nil {
				return err
			}
			if err := b.tell(dir, files, asJSON); err != nil || !conform {
				return err
			}
			return b.try(cmd.Context(), filepath.Join(dir, "dlmtest"), where)
		},
	}
	cmd.Flags().BoolVar(&conform, "conform", false, "then ask whether the adapter keeps what it claims, on a real server")
	cmd.Flags().StringVar(&where, "runtime", "auto", "where --conform runs: docker, local or auto")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was written, and what to type next, as JSON")
	return cmd
}

// begin looks at the project.
func begin(language, dir string) (beginning, error) {
	b := beginning{Language: language, Backend: "redis", SchemaLine: schema.Line("gate"), Gate: "dlmtest gate --config gate.yaml",
		templates: []string{"gate.yaml", "README.md", "dlmtest.yml"}}
	root, err := filepath.Abs(dir)
	if err != nil {
		return b, err
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return b, usageError{fmt.Errorf("%s: no such folder; want that of your project", dir)}
	}
	b.Name = nameOf(filepath.Base(root))
	switch language {
	case "go":
		return b, b.ofGo(root)
	case "python":
		b.Main, b.Instead, b.Image, b.Adapter = "mylock.py", "redis-py's lock", libraries.PythonImage, "python3 /adapter/mylock.py"
		b.copies = map[string]string{"mylock.py": "redis_py.py", "dlmtest_adapter.py": "dlmtest_adapter.py"}
	case "java":
		b.Main, b.Instead, b.Image, b.Backend = "Mylock.java", "Curator's InterProcessMutex", libraries.JavaImage, "zookeeper"
		b.Adapter = strings.Join(libraries.Java, " ") + " /adapter/Mylock.java mutex"
		b.copies = map[string]string{"Mylock.java": "Curator.java"}
	default:
		return b, among(fmt.Sprintf("unknown language %q", language), language, languages...)
	}
	b.conform = append([]string{self(), "conform", "--backend", b.Backend, "--adapter-files", ".", "--"}, strings.Fields(b.Adapter)...)
	b.Next = []string{"cd dlmtest", "dlmtest " + strings.Join(b.withImage()[1:], " "), b.Gate}
	return b, nil
}

var moduleWord = regexp.MustCompile(`[^a-z0-9]+`)

// nameOf is the name of a lock, made of that of a folder or a module.
func nameOf(base string) string {
	name := strings.Trim(moduleWord.ReplaceAllString(strings.ToLower(base), "-"), "-")
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "my-" + name
	}
	return strings.TrimSuffix(name, "-")
}

// ofGo reads the project's go.mod.
func (b *beginning) ofGo(root string) error {
	path := filepath.Join(root, "go.mod")
	data, err := bounded.ReadFile(path, 1<<20)
	if err != nil {
		return usageError{fmt.Errorf("%w; want the folder of your module, with its go.mod, which go mod init makes", err)}
	}
	b.Module = modfile.ModulePath(data)
	if b.Module == "" {
		return usageError{fmt.Errorf("%s names no module", path)}
	}
	if err := module.CheckImportPath(b.Module); err != nil { // it is written into programs
		return usageError{fmt.Errorf("%s: %w", path, err)}
	}
	base := regexp.MustCompile(`/v[0-9]+$`).ReplaceAllString(b.Module, "")
	b.Name = nameOf(base[strings.LastIndexByte(base, '/')+1:])
	b.Package = strings.ReplaceAll(b.Name, "-", "")
	if semver.IsValid(version) && semver.Prerelease(version) == "" {
		b.Version = version
	}
	b.Main, b.Instead, b.Gate = "lock.go", "a lock of its own on Redis", "CGO_ENABLED=0 go run . gate --config gate.yaml"
	b.templates = append(b.templates, "go.mod", "main.go", "lock.go")
	b.conform = []string{"go", "run", ".", "conform", "--library", b.Name}
	b.Next = []string{"cd dlmtest && go mod tidy", "CGO_ENABLED=0 " + strings.Join(b.conform, " "), b.Gate}
	return nil
}

// files are what is written, by path below the project's folder.
func (b *beginning) files(dir string) (map[string][]byte, error) {
	all := map[string][]byte{}
	for to, from := range b.copies {
		data, err := adapters.Files.ReadFile(from)
		if err != nil {
			return nil, err
		}
		all[filepath.Join("dlmtest", to)] = data
	}
	parsed, err := template.ParseFS(start.Files, "*.tmpl")
	if err != nil {
		return nil, err
	}
	for _, name := range b.templates {
		var text bytes.Buffer
		if err := parsed.ExecuteTemplate(&text, name+".tmpl", b); err != nil {
			return nil, err
		}
		to := filepath.Join("dlmtest", name)
		if name == "dlmtest.yml" {
			to = filepath.Join(".github", "workflows", name)
		}
		all[to] = text.Bytes()
	}
	return all, nil
}

// withImage is the conformance suite with the image in which client nodes run the adapter in Docker.
func (b *beginning) withImage() []string {
	if b.Image == "" {
		return b.conform
	}
	return slices.Insert(slices.Clone(b.conform), slices.Index(b.conform, "conform")+1, "--client-image", b.Image)
}

// try runs the conformance suite on what was written.
func (b *beginning) try(ctx context.Context, dir, where string) error {
	at := slices.Index(b.conform, "conform") + 1
	argv := b.conform
	if where != "local" { // there nodes see the programs of this machine
		argv = b.withImage()
	}
	steps := [][]string{slices.Insert(slices.Clone(argv), at, "--runtime", where)}
	if b.Language == "go" {
		steps = slices.Insert(steps, 0, []string{"go", "mod", "tidy"})
	}
	for _, argv := range steps {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append(os.Environ(), "CGO_ENABLED=0"), stdout, stderr
		err := cmd.Run()
		if ended := (*exec.ExitError)(nil); errors.As(err, &ended) && ended.ExitCode() == exitViolated {
			return fmt.Errorf("%s: something was found, or it could not be built; it is said above", strings.Join(argv, " "))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", strings.Join(argv, " "), err)
		}
	}
	return nil
}

// tell says what was written, and what to type next.
func (b *beginning) tell(dir string, files map[string][]byte, asJSON bool) error {
	paths := inOrder(files)
	if asJSON {
		return json.NewEncoder(stdout).Encode(map[string]any{"dir": dir, "language": b.Language, "name": b.Name, "files": paths, "next": b.Next})
	}
	for _, path := range paths {
		fmt.Fprintln(stdout, "wrote  "+filepath.Join(dir, path))
	}
	fmt.Fprintf(stdout, "\n%s tests %s as it is; put your lock in its place. Next, in %s:\n", filepath.Join("dlmtest", b.Main), b.Instead, dir)
	for _, line := range b.Next {
		fmt.Fprintln(stdout, "  "+line)
	}
	return nil
}
