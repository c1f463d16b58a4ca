package clusters

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

const pulledBase = "debian:bookworm-slim"

// bootstrap makes a base that holds every server, with no registry. What is cut
// away is half of its size; PostgreSQL does without its JIT compiler.
var bootstrap = []string{
	"--variant=minbase",
	`--setup-hook=mkdir -p "$1/usr/share/man/man1"`, // Java's package links into it
	"--dpkgopt=path-exclude=/usr/share/doc/*",
	"--dpkgopt=path-exclude=/usr/share/man/man*/*",
	"--dpkgopt=path-exclude=/usr/share/locale/*",
	"--dpkgopt=path-exclude=/usr/share/zoneinfo/right/*",
	"--dpkgopt=path-exclude=/usr/share/maven-repo/*.pom",
	"--dpkgopt=path-exclude=*/libLLVM-*",
	"--dpkgopt=path-exclude=*/libz3.so*",
	"--dpkgopt=path-exclude=/usr/lib/postgresql/*/lib/bitcode/*",
	"--include=redis-server,etcd-server,etcd-client,libzookeeper-java,openjdk-17-jre-headless,postgresql-15,procps",
	"bookworm", "-",
}

// bootstrapClients makes a base that holds the lock libraries of clients, for the images
// that are made on demand: no other one grows by them.
var bootstrapClients = slices.Concat(bootstrap[:len(bootstrap)-3], []string{
	"--include=python3-kazoo,python3-redis,python3-etcd3,libcurator-recipes-java,libslf4j-java,openjdk-17-jdk-headless,procps",
	"bookworm", "-",
})

func clientBaseTag() string {
	return "dlmtest/base-clients:" + shortHash(strings.Join(bootstrapClients, "\n"))
}

// ensureClientBase makes the base of lock libraries where the usual base could not be
// pulled, so that nothing can be installed in a build either.
func (d *Docker) ensureClientBase(ctx context.Context, progress func(string)) error {
	if here, err := d.present(ctx, clientBaseTag()); here || err != nil {
		return err
	}
	base, err := d.api.Image(ctx, baseTag())
	if err != nil {
		return fmt.Errorf("base image: %w", err)
	}
	if pulled, err := d.api.Image(ctx, pulledBase); err == nil && pulled.ID == base.ID {
		return d.api.TagImage(ctx, pulledBase, clientBaseTag())
	}
	return d.makeBase(ctx, bootstrapClients, clientBaseTag(), progress)
}

func baseTag() string { return "dlmtest/base:" + shortHash(strings.Join(bootstrap, "\n")) }

// ensureBase pulls a small Debian whose packages the builds then install, or
// makes one with them in it where no registry can be reached.
func (d *Docker) ensureBase(ctx context.Context, progress func(string)) error {
	if here, err := d.present(ctx, baseTag()); here || err != nil {
		return err
	}
	errPull := d.pullBase(ctx, progress)
	if errPull == nil {
		return nil
	}
	progress(fmt.Sprintf("%s cannot be pulled (%v); making a base from Debian's packages, about a minute", pulledBase, errPull))
	err := d.makeBase(ctx, bootstrap, baseTag(), progress)
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("base image: %s cannot be pulled (%w) and mmdebstrap is missing: apt-get install mmdebstrap", pulledBase, errPull)
	}
	return err
}

// pullBase counts the base as pulled only if packages can be installed in a
// build: where containers have no way out, the other base serves.
func (d *Docker) pullBase(ctx context.Context, progress func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if here, err := d.present(ctx, pulledBase); err != nil {
		return err
	} else if !here {
		if err := d.pull(ctx, pulledBase, progress); err != nil {
			return err
		}
	}
	probe := Image{Name: "dlmtest/probe:latest", Tag: "dlmtest/probe:latest"}
	if err := d.buildText(ctx, probe, "FROM "+pulledBase+"\nRUN apt-get update -o APT::Update::Error-Mode=any\n", progress); err != nil {
		return fmt.Errorf("no package can be installed in a build: %w", err)
	}
	_ = d.api.RemoveImage(ctx, probe.Tag)
	return d.api.TagImage(ctx, pulledBase, baseTag())
}

// makeBase streams mmdebstrap's archive into the daemon.
func (d *Docker) makeBase(ctx context.Context, args []string, tag string, progress func(string)) error {
	cmd := exec.Command("mmdebstrap", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // it has many children; end them all
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	seal.CloseOnExec() // mmdebstrap tells a shell the number of a pipe, and dash knows none above 9: what make, say, has open counts
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("mmdebstrap: %w", err)
	}
	defer d.Janitor.Watch(cmd.Process.Pid)()
	defer context.AfterFunc(ctx, func() { killGroup(cmd.Process.Pid) })()
	defer heartbeat(progress, "making the base image with mmdebstrap")()
	archive := whole{out: out, wait: sync.OnceValue(cmd.Wait)}
	errImport := d.importImage(ctx, archive, tag)
	_ = out.Close() // after a failed import nobody reads: a write then ends mmdebstrap
	if err := archive.wait(); err != nil {
		return errors.Join(fmt.Errorf("mmdebstrap: %w\n%s", err, lastLines(said.String(), 15)), errImport)
	}
	return errImport
}

func (d *Docker) importImage(ctx context.Context, archive io.Reader, ref string) error {
	body, err := d.api.ImportImage(ctx, archive, ref)
	if err != nil {
		return fmt.Errorf("import %s: %w", ref, err)
	}
	defer body.Close()
	if err := messages(body, func(string) {}); err != nil {
		return fmt.Errorf("import %s: %w", ref, err)
	}
	return nil
}

// whole is the output of a command that ends well only if the command did:
// otherwise the daemon would import half an archive.
type whole struct {
	out  io.Reader
	wait func() error // may be called often
}

func (w whole) Read(p []byte) (int, error) {
	n, err := w.out.Read(p)
	if errors.Is(err, io.EOF) {
		if failed := w.wait(); failed != nil {
			return n, failed
		}
	}
	return n, err
}

// killGroup asks first, so that mmdebstrap can unmount and clean up.
func killGroup(pgid int) {
	_ = syscall.Kill(-pgid, syscall.SIGTERM)
	for range 50 {
		time.Sleep(100 * time.Millisecond)
		if syscall.Kill(-pgid, 0) != nil {
			return
		}
	}
	_ = syscall.Kill(-pgid, syscall.SIGKILL)
}
