package clusters

import (
	"bytes"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

func TestRecipes(t *testing.T) {
	tags := map[string]bool{}
	for _, i := range Images() {
		text := recipe(i.target())
		if !strings.HasPrefix(text, "# One target") || strings.Count(text, "\nFROM ") != 1 ||
			!strings.Contains(text, " AS "+i.target()+"\n") || !strings.Contains(text, "\nUSER ") {
			t.Errorf("%s:\n%s", i.Name, text)
		}
		tags[i.Tag] = true
	}
	if len(tags) != len(servers) {
		t.Errorf("tags are not unique: %v", tags)
	}
}

func TestReference(t *testing.T) {
	redis := Images()[1]
	for name, want := range map[string]string{
		"dlmtest/redis:latest": redis.Tag,
		"dlmtest/redis":        redis.Tag,
		redis.Tag:              redis.Tag,
		"dlmtest/redis:mine":   "dlmtest/redis:mine",
		"redis:7":              "redis:7",
	} {
		if got := reference(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestMerge(t *testing.T) {
	image := &engine.ImageConfig{ImageConfig: ocispec.ImageConfig{
		User: "redis", WorkingDir: "/data", Env: []string{"A=image", "B=image"},
		Entrypoint: []string{"entry.sh"}, Cmd: []string{"serve"},
	}}
	for name, c := range map[string]struct {
		spec NodeSpec
		argv string
	}{
		"nothing":    {NodeSpec{}, "entry.sh serve"},
		"command":    {NodeSpec{Command: []string{"x"}}, "entry.sh x"},
		"entrypoint": {NodeSpec{Entrypoint: []string{"y"}}, "y"},
	} {
		c.spec.Name, c.spec.Env = "n-1", []string{"B=mine"}
		merge(&c.spec, image)
		if got := strings.Join(c.spec.Argv(), " "); got != c.argv {
			t.Errorf("%s: %q, want %q", name, got, c.argv)
		}
		if want := []string{usualPath, "HOSTNAME=n-1", "A=image", "B=mine"}; !slices.Equal(c.spec.Env, want) {
			t.Errorf("%s: env %q", name, c.spec.Env)
		}
		if c.spec.User != "redis" || c.spec.WorkDir != "/data" {
			t.Errorf("%s: %+v", name, c.spec)
		}
	}
}

// The daemon reports a failed build inside an answer that says 200.
func TestMessages(t *testing.T) {
	var lines []string
	keep := func(s string) { lines = append(lines, s) }
	err := messages(strings.NewReader(`{"stream":"Step 1\n"}{"error":"no space"}`), keep)
	wantError(t, err, "no space")
	if !slices.Equal(lines, []string{"Step 1"}) {
		t.Errorf("lines %q", lines)
	}
	wantError(t, messages(strings.NewReader(`{"stream":`), keep), "broke off")
}

// A failed mmdebstrap must not end its archive well: Docker would import it.
func TestWhole(t *testing.T) {
	for _, want := range []error{nil, errors.New("exit status 1")} {
		text, err := io.ReadAll(whole{out: bytes.NewReader([]byte("tar")), wait: func() error { return want }})
		if string(text) != "tar" || !errors.Is(err, want) {
			t.Errorf("%q, %v, want %v", text, err, want)
		}
	}
}

func TestEnsureImagesWarm(t *testing.T) {
	d := docker(t)
	made := func(what string) { t.Errorf("nothing was to be made, and it says %q", what) }
	if err := d.EnsureImages(t.Context(), []string{ClientImage, "dlmtest/redis:latest", ClientImage}, made); err != nil {
		t.Fatal(err)
	}
}

func TestEnsureImagesForeign(t *testing.T) {
	d := docker(t)
	err := d.EnsureImages(t.Context(), []string{"localhost:1/nobody/nothing:1"}, func(string) {})
	wantError(t, err, "localhost:1/nobody/nothing:1 is not here and cannot be pulled")
	_, err = d.Up(t.Context(), runID(t), []NodeSpec{{Name: "a", Image: "localhost:1/nobody/nothing:1"}})
	wantError(t, err, "is missing; run dlmtest images build")
}

// The image that pods and CI jobs run in has every server that is made into an image of its own.
func TestTheReleasedImageHasTheServers(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for _, arg := range bootstrap {
		list, ok := strings.CutPrefix(arg, "--include=")
		if !ok {
			continue
		}
		for _, name := range strings.Split(list, ",") {
			if !slices.Contains(strings.Fields(string(text)), name) {
				t.Errorf("the Dockerfile does not install %s", name)
			}
		}
	}
}

// The key of a cache changes with the recipe of any image and with the base.
func TestImagesKey(t *testing.T) {
	was, wasAll := ImagesKey(false), ImagesKey(true)
	if was == wasAll || was != ImagesKey(false) {
		t.Errorf("%s, with those on demand %s", was, wasAll)
	}
	kept, args := dockerfile, bootstrap
	defer func() { dockerfile, bootstrap = kept, args }()
	for _, target := range []string{"redis", "client"} {
		dockerfile = strings.Replace(kept, " AS "+target+"\n", " AS "+target+"\nENV A=1\n", 1)
		if ImagesKey(false) == was {
			t.Errorf("another recipe of %s has the same key", target)
		}
	}
	dockerfile, bootstrap = kept, append(slices.Clone(args), "--variant=other")
	if ImagesKey(false) == was {
		t.Error("another base has the same key")
	}
}
