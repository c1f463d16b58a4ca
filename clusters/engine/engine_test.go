package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

// standIn is a daemon that answers what a client asks first, in versions of the API from
// oldest to newest, as Docker's daemons do.
func standIn(t *testing.T, oldest, newest, component string) (host string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", newest)
		version, call, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/v"), "/")
		switch {
		case r.URL.Path == "/_ping":
			fmt.Fprint(w, "OK")
		case number(version) < number(oldest) || number(version) > number(newest):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"message": "client version %s is not between %s and %s"}`, version, oldest, newest)
		case strings.HasSuffix(call, "/create"): // it takes its time, and is made whoever waits for it
			time.Sleep(500 * time.Millisecond)
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"Id": "late"}`)
		case strings.HasSuffix(call, "/wait"):
			fmt.Fprint(w, `{"StatusCode": 0}`)
		case call == "version":
			fmt.Fprintf(w, `{"Version": "stand-in", "ApiVersion": %q, "MinAPIVersion": %q, "Components": [{"Name": %q, "Version": "1"}]}`, newest, oldest, component)
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprintf(w, `{"message": "no such thing as %s"}`, call)
		}
	}))
	server.Listener = l
	server.Start()
	t.Cleanup(server.Close)
	return "unix://" + path
}

func number(version string) (n int) {
	var major int
	_, _ = fmt.Sscanf(version, "%d.%d", &major, &n)
	return major*1000 + n
}

// Daemons from 20.10 to newer ones than this client are spoken to in a version that both
// know; Podman is told from Docker.
func TestConnect(t *testing.T) {
	for _, c := range []struct {
		name, oldest, newest, component string
		want                            error
	}{
		{"Docker 20.10", "1.12", "1.41", "Engine", nil},
		{"Docker 25", "1.24", "1.44", "Engine", nil},
		{"Docker 29", "1.44", "1.52", "Engine", nil},
		{"one that is yet to come", "1.44", "1.99", "Engine", nil},
		{"Podman 5", "1.24", "1.41", "Podman Engine", ErrPodman},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("DOCKER_HOST", standIn(t, c.oldest, c.newest, c.component))
			client, err := Connect(t.Context())
			if !errors.Is(err, c.want) {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			if n := number(client.APIVersion()); n < number(c.oldest) || n > number(c.newest) {
				t.Errorf("it speaks %s, the daemon %s to %s", client.APIVersion(), c.oldest, c.newest)
			}
			if _, err := client.Image(t.Context(), "none"); !IsNotFound(err) {
				t.Errorf("what is missing: %v", err)
			}
		})
	}
}

// Where nothing listens the error says what to do, and what Podman's socket is worth.
func TestConnectToNobody(t *testing.T) {
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if _, err := Connect(t.Context()); !errors.Is(err, ErrNone) || errors.Is(err, ErrPodman) {
		t.Error(err)
	}
}

// Who asks for a container's end and does not wait for it leaves no connection behind: a matrix has thousands of containers.
func TestWaitsNobodyListensTo(t *testing.T) {
	t.Setenv("DOCKER_HOST", standIn(t, "1.24", "1.44", "Engine"))
	client, err := Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		client.NextExit(t.Context(), "x")
	}
	eventually.True(t, "no goroutine waits to tell of an end", func() bool {
		all := make([]byte, 1<<20)
		return !strings.Contains(string(all[:runtime.Stack(all, true)]), "ContainerWait.func")
	})
	if e := <-first(client.NextExit(t.Context(), "x")); e.StatusCode != 0 {
		t.Error(e)
	}
}

// What is made after its client has given up is known, so that it can be removed.
func TestCreatedAfterTheEnd(t *testing.T) {
	t.Setenv("DOCKER_HOST", standIn(t, "1.24", "1.44", "Engine"))
	client, err := Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if id, err := client.CreateContainer(ctx, "x", &Config{}, &HostConfig{}); id != "late" || err != nil {
		t.Errorf("%q, %v", id, err)
	}
	if id, err := client.CreateContainer(ctx, "x", &Config{}, &HostConfig{}); id != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %q, %v", id, err)
	}
	if err := client.CreateNetwork(ctx, "x", NetworkOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a network after the end: %v", err)
	}
}

func first(exited <-chan Exited, _ <-chan error) <-chan Exited { return exited }
