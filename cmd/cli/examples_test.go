package cli

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v4"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	strict "sigs.k8s.io/yaml"

	"github.com/dlmtest/dlmtest/runner/matrix"
)

// The manifests are decoded with Kubernetes' own types and strictly, so that a field
// that is misspelt or out of place fails. kubeconform, the other way, fetches schemas
// from the network at run time.

func example(t *testing.T, path ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "examples"}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// objects decodes every document of a manifest.
func objects(t *testing.T, data []byte) (jobs []batchv1.Job, claims []corev1.PersistentVolumeClaim) {
	t.Helper()
	for _, doc := range regexp.MustCompile(`(?m)^---$`).Split(string(data), -1) {
		var kind struct{ Kind string }
		if err := strict.Unmarshal([]byte(doc), &kind); err != nil {
			t.Fatal(err)
		}
		var job batchv1.Job
		var claim corev1.PersistentVolumeClaim
		var err error
		switch kind.Kind {
		case "Job":
			err = strict.UnmarshalStrict([]byte(doc), &job)
			jobs = append(jobs, job)
		case "PersistentVolumeClaim":
			err = strict.UnmarshalStrict([]byte(doc), &claim)
			claims = append(claims, claim)
		default:
			t.Fatalf("a document is a %q", kind.Kind)
		}
		if err != nil {
			t.Error(err)
		}
	}
	return jobs, claims
}

// plans wants the words behind dlmtest to be a run that makes sense, and returns how
// many runs it has.
func plans(t *testing.T, words []string) (f runFlags, runs int) {
	t.Helper()
	cmd := &cobra.Command{Use: "run"}
	f.register(cmd)
	if words[0] != "run" {
		t.Fatalf("%q is no run", words)
	}
	if err := cmd.ParseFlags(words[1:]); err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	if left := cmd.Flags().Args(); len(left) > 0 {
		t.Errorf("%q: %q are no flags", words, left)
	}
	f.seed = 1
	cells, err := f.cells(cmd)
	if err != nil {
		t.Fatalf("%q: %v", words, err)
	}
	f.seeded = cmd.Flags().Changed("seed")
	return f, len(cells)
}

func TestKubernetesExample(t *testing.T) {
	jobs, claims := objects(t, example(t, "kubernetes", "matrix.yaml"))
	if len(jobs) != 1 || len(claims) != 1 {
		t.Fatalf("%d jobs, %d claims", len(jobs), len(claims))
	}
	job, pod := jobs[0].Spec, jobs[0].Spec.Template.Spec
	c := pod.Containers[0]
	if job.CompletionMode == nil || *job.CompletionMode != batchv1.IndexedCompletion || pod.RestartPolicy != corev1.RestartPolicyNever {
		t.Errorf("completion mode %v, restarts %v: a pod policy and an index need Indexed and Never", job.CompletionMode, pod.RestartPolicy)
	}
	if len(c.Env) != 1 || c.Env[0].Name != matrix.CountVariable || c.Env[0].Value != strconv.Itoa(int(*job.Completions)) || *job.MaxFailedIndexes > *job.Completions {
		t.Errorf("%+v for %d completions", c.Env, *job.Completions)
	}
	for _, rule := range job.PodFailurePolicy.Rules {
		if on := rule.OnExitCodes; on != nil && (*on.ContainerName != c.Name || !slices.Equal(on.Values, []int32{exitViolated, exitInconclusive, exitUsage})) {
			t.Errorf("the pod's policy is for %+v", on)
		}
	}
	if pod.Volumes[0].PersistentVolumeClaim.ClaimName != claims[0].Name || c.VolumeMounts[0].Name != pod.Volumes[0].Name {
		t.Errorf("the volume is %+v, the claim %s", pod.Volumes[0], claims[0].Name)
	}
	f, runs := plans(t, c.Args)
	for i := range int(*job.Completions) {
		shard, _, err := f.shardOf(func(name string) (string, bool) {
			v, ok := map[string]string{"JOB_COMPLETION_INDEX": strconv.Itoa(i), c.Env[0].Name: c.Env[0].Value}[name]
			return v, ok
		})
		if err != nil || shard.Index != i+1 || shard.Count > runs {
			t.Errorf("pod %d is shard %v of %d runs, %v", i, shard, runs, err)
		}
	}

	merges, _ := objects(t, example(t, "kubernetes", "merge.yaml"))
	m := merges[0].Spec.Template.Spec
	if m.Volumes[0].PersistentVolumeClaim.ClaimName != claims[0].Name || m.Containers[0].Image != c.Image || !strings.Contains(m.Containers[0].Args[0], "dlmtest report merge /runs/shard-*/latest-matrix -o ") {
		t.Errorf("the merge does not go with the matrix: %+v", m)
	}
}

// A manifest with a mistake is noticed: else the test above says nothing.
func TestKubernetesExampleIsDecodedStrictly(t *testing.T) {
	good := string(example(t, "kubernetes", "merge.yaml"))
	for _, c := range [][2]string{{"backoffLimit: 0", "backofLimit: 0"}, {"restartPolicy: Never", "restartPolicy: Never\n      restartPolicy: Always"}, {"backoffLimit: 0", "backoffLimit: none"}} {
		bad := strings.Replace(good, c[0], c[1], 1)
		if err := strict.UnmarshalStrict([]byte(bad), &batchv1.Job{}); bad == good || err == nil {
			t.Errorf("%q for %q was not noticed", c[1], c[0])
		}
	}
}

// commands are the calls of dlmtest in the script of a job, their lines joined and the
// words that a CI system fills in made up.
func commands(script string) (all [][]string) {
	script = strings.ReplaceAll(script, "\\\n", " ")
	script = regexp.MustCompile(`"\$[A-Z_]+"`).ReplaceAllString(script, "2")
	for line := range strings.Lines(script) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(strings.ReplaceAll(line, "'", ""))
		for i, w := range words {
			if filepath.Base(w) != "dlmtest" {
				continue
			}
			rest := words[i+1:]
			if end := slices.Index(rest, "||"); end >= 0 {
				rest = rest[:end]
			}
			all = append(all, rest)
			break
		}
	}
	return all
}

func TestGitHubMatrixExample(t *testing.T) {
	data := example(t, "ci", "matrix-github.yml")
	repo := t.TempDir()
	for name, data := range map[string][]byte{".git/HEAD": nil, ".github/workflows/matrix.yml": data,
		".github/workflows/wrong.yml": bytes.Replace(data, []byte("matrix.shard"), []byte("matrix.shrad"), 1)} {
		path := filepath.Join(repo, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	// In a module graph of its own: it rests on a candidate of the YAML library whose release is ours.
	lint := exec.Command("go", "run", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12", "-oneline", "-shellcheck=", "-pyflakes=")
	lint.Dir = repo
	said, _ := lint.CombinedOutput() // it fails, as one file is wrong
	if text := string(said); !strings.Contains(text, `wrong.yml`) || !strings.Contains(text, "shrad") || strings.Contains(text, "workflows/matrix.yml") {
		t.Errorf("actionlint says\n%s", said)
	}
	var w struct {
		Jobs map[string]struct {
			Strategy struct{ Matrix struct{ Shard []int } }
			Steps    []struct{ Run string }
		}
	}
	if err := yaml.Unmarshal(data, &w); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, step := range w.Jobs["shard"].Steps {
		for _, words := range commands(step.Run) {
			f, runs := plans(t, words)
			shard, _, err := f.shardOf(os.LookupEnv)
			if err != nil || shard.Count != len(w.Jobs["shard"].Strategy.Matrix.Shard) || runs < shard.Count {
				t.Errorf("%q: %v of %d runs, %v", words, shard, runs, err)
			}
			ran++
		}
	}
	if ran != 1 {
		t.Errorf("%d runs", ran)
	}
}

func TestGitLabMatrixExample(t *testing.T) {
	var w map[string]yaml.Node
	if err := yaml.Unmarshal(example(t, "ci", "matrix-gitlab.yml"), &w); err != nil {
		t.Fatal(err)
	}
	var shard struct {
		Parallel int
		Script   []string
	}
	node := w["shard"]
	if err := node.Load(&shard); err != nil {
		t.Fatal(err)
	}
	found := commands(strings.Join(shard.Script, "\n"))
	if len(found) != 1 {
		t.Fatalf("%q", found)
	}
	f, runs := plans(t, found[0])
	for i := 1; i <= shard.Parallel; i++ {
		s, _, err := f.shardOf(func(name string) (string, bool) {
			v, ok := map[string]string{"CI_NODE_INDEX": strconv.Itoa(i), "CI_NODE_TOTAL": strconv.Itoa(shard.Parallel)}[name]
			return v, ok
		})
		if err != nil || s != (matrix.Shard{Index: i, Count: shard.Parallel}) || runs < s.Count {
			t.Errorf("job %d is shard %v of %d runs, %v", i, s, runs, err)
		}
	}
}
