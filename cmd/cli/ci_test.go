package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/dlmtest/dlmtest/runner/gate"
)

// action is what this file looks at of action.yml.
type action struct {
	Inputs map[string]struct{ Description, Default string }
	Runs   struct{ Steps []map[string]any }
}

func readAction(t *testing.T) action {
	t.Helper()
	var a action
	data, err := os.ReadFile("../../action.yml")
	if err == nil {
		err = yaml.Load(data, &a)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// actionlint has a module graph of its own, since it rests on a candidate of the YAML
// library whose release is ours.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

// The example for GitHub is a valid workflow and gives the action inputs that it has,
// and the steps of the action are those of a valid job: actionlint looks at them as at
// a workflow that others call, with the same inputs. A wrong input is noticed.
func TestGitHubWorkflows(t *testing.T) {
	example, err := os.ReadFile("../../examples/ci/github.yml")
	if err != nil {
		t.Fatal(err)
	}
	published, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	local := bytes.Replace(example, []byte("dlmtest/dlmtest@main"), []byte("./"), 1)
	repo := t.TempDir()
	for name, data := range map[string][]byte{
		"action.yml": published, ".git/HEAD": nil, ".github/workflows/example.yml": example, ".github/workflows/local.yml": local,
		".github/workflows/steps.yml": stepsAsJob(t), ".github/workflows/wrong.yml": bytes.Replace(local, []byte("config: gate.yaml"), []byte("konfig: gate.yaml"), 1),
	} {
		path := filepath.Join(repo, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", actionlint, "-oneline", "-shellcheck=", "-pyflakes=")
	cmd.Dir = repo
	var said, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &errs
	_ = cmd.Run() // it fails, as one file is wrong
	noticed := false
	for line := range strings.Lines(said.String()) {
		if strings.HasPrefix(line, ".github/workflows/wrong.yml:") {
			noticed = noticed || strings.Contains(line, `"konfig"`)
			continue
		}
		t.Error(strings.TrimSpace(line))
	}
	if !noticed {
		t.Errorf("actionlint has not looked, or does not see an input that the action has not:\n%s%s", said.String(), errs.String())
	}
}

// stepsAsJob are the steps of the action as a workflow with its inputs.
func stepsAsJob(t *testing.T) []byte {
	t.Helper()
	a := readAction(t)
	inputs := map[string]any{}
	for name := range a.Inputs {
		inputs[name] = map[string]any{"type": "string"}
	}
	workflow, err := yaml.Dump(map[string]any{"on": map[string]any{"workflow_call": map[string]any{"inputs": inputs}},
		"jobs": map[string]any{"gate": map[string]any{"runs-on": "ubuntu-latest", "steps": a.Runs.Steps}}})
	if err != nil {
		t.Fatal(err)
	}
	return workflow
}

func TestActionScripts(t *testing.T) {
	for _, s := range readAction(t).Runs.Steps {
		script, _ := s["run"].(string)
		if out, err := bash(t, "-n", script); err != nil {
			t.Errorf("%v: %v: %s", s["name"], err, out)
		}
		if strings.Contains(script, "${{") {
			t.Errorf("%v: an expression in a script lets its value run as code", s["name"])
		}
	}
}

func bash(t *testing.T, flag, script string, env ...string) (string, error) {
	t.Helper()
	cmd := exec.Command("bash", flag, "/dev/stdin")
	cmd.Stdin, cmd.Env, cmd.Dir = strings.NewReader(script), append(os.Environ(), env...), t.TempDir()
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The GitLab example has the keys of a job, its commands are those of dlmtest, and its
// report is where the gate writes it.
func TestGitLabExample(t *testing.T) {
	data, err := os.ReadFile("../../examples/ci/gitlab.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Stages []string
		Gate   struct {
			Stage, Image, Timeout string
			Services              []string
			Rules                 []map[string]string
			Variables             map[string]string
			Before                []string `yaml:"before_script"`
			Script                []string
			Cache                 struct {
				Key, When string
				Paths     []string
			}
			Artifacts struct {
				When, Name string
				Expire     string `yaml:"expire_in"`
				Paths      []string
				Reports    struct{ Junit string }
			}
		} `yaml:"lock-gate"`
	}
	if err := yaml.Load(data, &file, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	j := file.Gate
	if !slices.Contains(file.Stages, j.Stage) || j.Artifacts.When != "always" || len(j.Script) != 1 {
		t.Errorf("%+v", j)
	}
	for _, line := range append(j.Before, j.Script...) {
		if out, err := bash(t, "-n", line); err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
	}
	if before := strings.Join(j.Before, "\n"); !strings.Contains(before, "tar="+j.Cache.Paths[0]+"/") || j.Cache.When != "always" {
		t.Errorf("the images are not where the cache looks: %+v\n%s", j.Cache, before)
	}
	cmd := newGate()
	words := strings.Fields(strings.ReplaceAll(j.Script[0], `"$BUDGET"`, j.Variables["BUDGET"]))
	if err := cmd.ParseFlags(words[2:]); err != nil {
		t.Errorf("%q: %v", words, err)
	}
	out := cmd.Flags().Lookup("out").Value.String()
	if !slices.Contains(j.Artifacts.Paths, out) || j.Artifacts.Reports.Junit != out+"/*_"+gate.Kind+"/gate.xml" {
		t.Errorf("the artefacts are not those of --out %s: %+v", out, j.Artifacts)
	}
}

// The gate files of the examples are read.
func TestExampleGates(t *testing.T) {
	files, err := filepath.Glob("../../examples/ci/gate*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, f := range files {
		if _, err := gate.Load(f); err != nil {
			t.Error(err)
		}
	}
}
