package clusters

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	ansi "github.com/jedib0t/go-pretty/v6/text"

	locks "github.com/dlmtest/dlmtest/internal/scratch"
)

// build makes images from one base, side by side. Only one process of a user
// builds at a time; the others find the images made.
func (d *Docker) build(ctx context.Context, images []Image, progress func(string)) error {
	unlock, err := locks.Lock(ctx, "images")
	if err != nil {
		return err
	}
	defer unlock()
	if err := d.ensureBase(ctx, progress); err != nil {
		return err
	}
	if slices.ContainsFunc(images, func(i Image) bool { return i.OnDemand }) {
		if err := d.ensureClientBase(ctx, progress); err != nil {
			return err
		}
	}
	return parallel(len(images), func(i int) error { return d.buildOne(ctx, images[i], progress) })
}

func (d *Docker) buildOne(ctx context.Context, i Image, progress func(string)) error {
	if here, err := d.present(ctx, i.Tag); here || err != nil {
		return err
	}
	return d.buildText(ctx, i, recipe(i.target()), progress)
}

func (d *Docker) buildText(ctx context.Context, i Image, text string, progress func(string)) error {
	return d.buildFrom(ctx, i, dockerContext(text), progress)
}

func (d *Docker) buildFrom(ctx context.Context, i Image, files io.Reader, progress func(string)) error {
	defer heartbeat(progress, "building "+i.Name)()
	base := i.base()
	answer, err := d.api.BuildImage(ctx, files, []string{i.Tag, i.Name}, map[string]*string{"BASE": &base})
	if err != nil {
		return fmt.Errorf("build %s: %w", i.Name, err)
	}
	defer answer.Close()
	var said []string
	if err := messages(answer, func(line string) { said = append(said, line) }); err != nil {
		return fmt.Errorf("build %s: %w\n%s", i.Name, err, lastLines(strings.Join(said, "\n"), 15))
	}
	return nil
}

// dockerContext is a build context of one file.
func dockerContext(text string) io.Reader {
	var b bytes.Buffer
	t := tar.NewWriter(&b)
	_ = t.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))}) // a buffer takes all
	_, _ = t.Write([]byte(text))
	_ = t.Close()
	return &b
}

// messages reads the daemon's stream to its end. An error in it comes with a
// status of 200, so the stream must be read to know.
func messages(r io.Reader, line func(string)) error {
	for dec := json.NewDecoder(r); ; {
		var m struct{ Stream, Status, Error string }
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the daemon's answer broke off: %w", err)
		}
		if m.Error != "" {
			return errors.New(m.Error)
		}
		if text := strings.TrimSpace(ansi.StripEscape(m.Stream + m.Status)); text != "" {
			line(text)
		}
	}
}

// heartbeat reports what is being done every two seconds until stopped.
func heartbeat(progress func(string), what string) (stop func()) {
	begin, done := time.Now(), make(chan struct{})
	go func() {
		every := time.NewTicker(2 * time.Second)
		defer every.Stop()
		for {
			select {
			case <-done:
				return
			case <-every.C:
				progress(fmt.Sprintf("%s: %.0f s", what, time.Since(begin).Seconds()))
			}
		}
	}()
	return func() { close(done) }
}
