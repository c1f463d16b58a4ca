package clusters

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

//go:embed image/Dockerfile
var dockerfile string

// Image is one that dlmtest makes itself.
type Image struct {
	Name  string // as compose files name it
	Tag   string // under which this version of its recipe is kept
	About string
	// OnDemand: made when a run wants it, and not with the others, as few runs do.
	OnDemand bool
}

// Images lists what dlmtest makes.
func Images() []Image {
	var list []Image
	for _, t := range servers {
		i := Image{Name: "dlmtest/" + t.name + ":latest", About: t.about, OnDemand: t.onDemand}
		i.Tag = "dlmtest/" + t.name + ":" + shortHash(recipe(t.name)+i.base())
		list = append(list, i)
	}
	return list
}

// base is what the image is built from.
func (i Image) base() string {
	if i.OnDemand {
		return clientBaseTag()
	}
	return baseTag()
}

func (i Image) target() string {
	return strings.TrimSuffix(strings.TrimPrefix(i.Name, "dlmtest/"), ":latest")
}

// own finds the image that a name means, if it is ours.
func own(name string) (Image, bool) {
	for _, i := range Images() {
		if name == i.Name || name == i.Tag || name+":latest" == i.Name {
			return i, true
		}
	}
	return Image{}, false
}

// BuiltIn says whether dlmtest makes an image itself under this very name; it is never
// pulled. A name that is only alike is anybody's.
func BuiltIn(name string) bool {
	return slices.ContainsFunc(Images(), func(i Image) bool { return i.Name == name })
}

// reference is what to ask Docker for: our own images by the hash of their
// recipe, so that two versions of dlmtest do not share one.
func reference(name string) string {
	if i, ok := own(name); ok {
		return i.Tag
	}
	return name
}

// recipe is the part of the Dockerfile that makes one target, so that a change
// of one image does not remake the others.
func recipe(target string) string {
	part := strings.Split(dockerfile, "\nFROM ")
	for _, stage := range part[1:] {
		first, _, _ := strings.Cut(stage, "\n")
		if strings.HasSuffix(first, " AS "+target) {
			return part[0] + "\nFROM " + stage
		}
	}
	panic("clusters: no target " + target + " in the Dockerfile")
}

func shortHash(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text)))[:12] }

// EnsureImages makes those of the named images that are ours and missing, and
// pulls foreign ones that are missing. progress gets a line now and then while
// it takes long; it may be called from several goroutines.
func (d *Docker) EnsureImages(ctx context.Context, names []string, progress func(line string)) error {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	var missing []Image
	for _, name := range names {
		here, err := d.present(ctx, reference(name))
		if err != nil {
			return err
		}
		mine, ok := own(name)
		switch {
		case here:
		case ok:
			missing = append(missing, mine)
		default:
			if err := d.pull(ctx, name, progress); err != nil {
				return fmt.Errorf("image %s is not here and cannot be pulled: %w; docker pull or docker load it", name, err)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return d.build(ctx, missing, progress)
}

// BuildImages makes all of dlmtest's own images that are missing; those that are made on
// demand only if all is true.
func (d *Docker) BuildImages(ctx context.Context, all bool, progress func(line string)) error {
	return d.EnsureImages(ctx, Tags(all), progress)
}

func (d *Docker) present(ctx context.Context, ref string) (bool, error) {
	_, err := d.api.Image(ctx, ref)
	if engine.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("image %s: %w", ref, err)
	}
	return true, nil
}

func (d *Docker) pull(ctx context.Context, ref string, progress func(string)) error {
	defer heartbeat(progress, "pulling "+ref)()
	body, err := d.api.PullImage(ctx, ref)
	if err != nil {
		return err
	}
	defer body.Close()
	return messages(body, func(string) {})
}

// Tags are the references of dlmtest's own images, as docker save and docker image inspect take them; those that are
// made on demand only if all is true.
func Tags(all bool) (tags []string) {
	for _, i := range Images() {
		if all || !i.OnDemand {
			tags = append(tags, i.Tag)
		}
	}
	return tags
}

// ImagesKey changes whenever anything that images are made of does: a cache under it never holds others.
func ImagesKey(all bool) string { return shortHash(strings.Join(Tags(all), "\n")) }
