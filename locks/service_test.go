package locks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/loopback"
)

// What each status proves about an acquire and about a renewal or a release.
func TestHTTPMeans(t *testing.T) {
	for _, c := range []struct {
		status         int
		effect         string
		acquire, other string
	}{
		{200, "", "ok", "ok"},
		{409, "none", "refused", "not held"},
		{403, "none", "config", "not held"},
		{404, "none", "config", "not held"},
		{400, "", "config", "config"},
		{401, "", "config", "config"},
		{422, "", "config", "config"},
		{405, "", "config", "config"},
		{307, "", "config", "config"},
		{429, "", "busy", "busy"},
		{503, "none", "busy", "busy"},
		{503, "unknown", "open", "open"},
		{503, "", "open", "open"},
		{500, "none", "open", "open"},
		{502, "", "open", "open"},
		{504, "", "open", "open"},
		{408, "", "open", "open"},
		{202, "", "open", "open"},
		{204, "", "open", "open"},
	} {
		if got := means(httpMeans(c.status, true, c.effect, "x")); got != c.acquire {
			t.Errorf("%d %s of an acquire: %s, want %s", c.status, c.effect, got, c.acquire)
		}
		if got := means(httpMeans(c.status, false, c.effect, "x")); got != c.other {
			t.Errorf("%d %s of a release: %s, want %s", c.status, c.effect, got, c.other)
		}
	}
}

func TestGRPCMeans(t *testing.T) {
	none, err := status.New(codes.Unavailable, "x").WithDetails(&errdetails.ErrorInfo{Metadata: map[string]string{"effect": "none"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		err            error
		acquire, other string
	}{
		{nil, "ok", "ok"},
		{none.Err(), "busy", "busy"},
		{status.Error(codes.Unavailable, "x"), "open", "open"},
		{status.Error(codes.DeadlineExceeded, "x"), "open", "open"},
		{status.Error(codes.Canceled, "x"), "open", "open"},
		{status.Error(codes.Unknown, "x"), "open", "open"},
		{status.Error(codes.Internal, "x"), "open", "open"},
		{status.Error(codes.Aborted, "x"), "open", "open"},
		{errors.New("x"), "open", "open"},
		{status.Error(codes.PermissionDenied, "x"), "config", "not held"},
		{status.Error(codes.NotFound, "x"), "config", "not held"},
		{status.Error(codes.ResourceExhausted, "x"), "busy", "busy"},
		{status.Error(codes.InvalidArgument, "x"), "config", "config"},
		{status.Error(codes.Unauthenticated, "x"), "config", "config"},
		{status.Error(codes.Unimplemented, "x"), "config", "config"},
	} {
		if got := means(grpcMeans(t.Context(), c.err, true)); got != c.acquire {
			t.Errorf("%v of an acquire: %s, want %s", c.err, got, c.acquire)
		}
		if got := means(grpcMeans(t.Context(), c.err, false)); got != c.other {
			t.Errorf("%v of a release: %s, want %s", c.err, got, c.other)
		}
	}
}

func means(err error) string {
	switch {
	case err == nil:
		return "ok"
	case errors.Is(err, ErrNotHeld):
		return "not held"
	case errors.Is(err, ErrConfig) && errors.Is(err, errDefinite):
		return "config"
	case errors.Is(err, errBusy):
		return "busy"
	case errors.Is(err, errDefinite):
		return "refused"
	}
	return "open"
}

// A call that found nobody listening was not sent, and that is known for certain.
func TestUnsent(t *testing.T) {
	nobody := loopback.Free(t)
	for _, open := range []Opener{OpenHTTP, OpenGRPC} {
		c, err := open(t.Context(), Config{Endpoints: []string{nobody}, Lease: 2 * time.Second, Client: "c"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		if _, err = c.Acquire(ctx, "k"); !errors.Is(err, ErrNotGranted) {
			t.Errorf("%T: %v", c.(*serviceLock).remote, err)
		}
		cancel()
		_ = c.Close()
	}
}

// fake is a service that answers as it is told, request after request.
type fake struct {
	mu      sync.Mutex
	said    []string // path and client of what came
	answers map[string][]func(http.ResponseWriter, *http.Request)
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var q httpFields
	_ = json.NewDecoder(r.Body).Decode(&q)
	what := r.URL.Path[len("/api/v1/locks/"):]
	f.mu.Lock()
	f.said = append(f.said, what+" "+q.Client)
	var answer func(http.ResponseWriter, *http.Request)
	if all := f.answers[what]; len(all) > 0 {
		answer, f.answers[what] = all[0], all[1:]
	}
	f.mu.Unlock()
	if answer == nil {
		answer = says(200, `{"fencing_token": 7}`)
	}
	answer(w, r)
}

// came lists what was asked for, in order, and how many clients asked.
func (f *fake) came() (whats []string, clients int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := map[string]bool{}
	for _, s := range f.said {
		var what, client string
		_, _ = fmt.Sscan(s, &what, &client)
		whats = append(whats, what)
		names[client] = true
	}
	return whats, len(names)
}

func says(status int, body string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

func after(d time.Duration, then func(http.ResponseWriter, *http.Request)) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) { time.Sleep(d); then(w, r) }
}

// silent never answers.
func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func TestServiceClaims(t *testing.T) {
	const lease = 2 * time.Second
	type answers = map[string][]func(http.ResponseWriter, *http.Request)
	epoch := func(d time.Duration) func(http.ResponseWriter, *http.Request) {
		return says(200, fmt.Sprintf(`{"fencing_token": 7, "lease_time_ms": 2000, "expires_at_epoch_ms": %d}`, time.Now().Add(d).UnixMilli()))
	}
	for _, c := range []struct {
		name    string
		answers answers
		want    string   // granted, refused, config or open
		came    []string // what the service was asked for, in order
	}{
		{"plain", nil, "granted", []string{"acquire"}},
		{"a server clock that is a year ahead", answers{"acquire": {epoch(365 * 24 * time.Hour)}}, "granted", []string{"acquire"}},
		{"a server clock that is a year behind", answers{"acquire": {epoch(-365 * 24 * time.Hour)}}, "granted", []string{"acquire"}},
		{"it waited, so only a renewal proves from when on the lease runs", answers{"acquire": {after(lease/4, epoch(lease))}}, "granted", []string{"acquire", "renew"}},
		{"it waited, and is lost", answers{"acquire": {after(lease/4, epoch(lease))}, "renew": {says(403, "{}")}}, "refused", []string{"acquire", "renew"}},
		{"another lease", answers{"acquire": {says(200, `{"fencing_token": 7, "lease_time_ms": 1000}`)}}, "config", []string{"acquire", "release"}},
		{"no token", answers{"acquire": {says(200, `{}`)}}, "config", []string{"acquire", "release"}},
		{"no JSON", answers{"acquire": {says(200, `<html>`)}}, "open", []string{"acquire", "release"}},
		{"unauthorized", answers{"acquire": {says(401, `{}`)}}, "config", []string{"acquire"}},
		{"refused without a body", answers{"acquire": {says(409, ``)}}, "refused", []string{"acquire"}},
		{"a proxy lost it", answers{"acquire": {says(502, ``)}}, "open", []string{"acquire", "release"}},
		{"nobody answers, and nothing proves that the request will not come yet", answers{"acquire": {silent}}, "open", []string{"acquire", "release"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &fake{answers: c.answers}
			server := httptest.NewServer(f)
			defer server.Close()
			client, err := OpenHTTP(t.Context(), Config{Endpoints: []string{server.URL}, Lease: lease, Client: "c"})
			if err != nil {
				t.Fatal(err)
			}
			before := history.Mono()
			g, err := client.(Trier).Try(t.Context(), "k")
			came, clients := f.came()
			if !slices.Equal(came, c.came) || clients != 1 {
				t.Errorf("asked for %v as %d clients, want %v as one", came, clients, c.came)
			}
			if c.want != "granted" {
				if got := outcomeOf(err); got != c.want {
					t.Errorf("%v is %s, want %s", err, got, c.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if g.Deadline != g.Sent.Mono+int64(lease) || g.Sent.Mono < before || g.Token != 7 {
				t.Errorf("%+v: the claim is not the lease from the request on", g)
			}
			if proof := time.Duration(g.Sent.Mono - before); slices.Contains(c.came, "renew") != (proof >= lease/4) {
				t.Errorf("sent %v after the call, and %v came", proof, c.came)
			}
		})
	}
}

func outcomeOf(err error) string {
	switch {
	case errors.Is(err, ErrConfig):
		return "config"
	case errors.Is(err, ErrNotGranted):
		return "refused"
	}
	return "open"
}

// After an unanswered request the next node is asked the same as the same client, and its
// grant is believed from a renewal on.
func TestServiceAsksAnotherNode(t *testing.T) {
	deaf, well := &fake{answers: map[string][]func(http.ResponseWriter, *http.Request){"acquire": {silent}}}, &fake{}
	a, b := httptest.NewServer(deaf), httptest.NewServer(well)
	defer a.Close()
	defer b.Close()
	c, err := OpenHTTP(t.Context(), Config{Endpoints: []string{a.URL, b.URL}, Lease: 2 * time.Second, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	c.(*serviceLock).node.Store(0)
	g, err := c.(Trier).Try(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	came, _ := well.came()
	if !slices.Equal(came, []string{"acquire", "renew"}) || len(deaf.said) == 0 || deaf.said[0] != "acquire "+g.Owner {
		t.Errorf("the deaf node heard %v, the other %v", deaf.said, came)
	}
}

// Not held, as the answer to a repeated release, does not tell whose release it was.
func TestServiceReleaseInDoubt(t *testing.T) {
	f := &fake{answers: map[string][]func(http.ResponseWriter, *http.Request){"release": {says(500, ""), says(404, "")}}}
	server := httptest.NewServer(f)
	defer server.Close()
	c, err := OpenHTTP(t.Context(), Config{Endpoints: []string{server.URL}, Lease: 2 * time.Second, Client: "c"})
	if err != nil {
		t.Fatal(err)
	}
	g, err := c.(Trier).Try(t.Context(), "k")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Release(t.Context(), g); err == nil || errors.Is(err, ErrNotHeld) {
		t.Errorf("in doubt: %v", err)
	}
	f.answers = map[string][]func(http.ResponseWriter, *http.Request){"release": {says(404, "")}}
	if err := c.Release(t.Context(), g); !errors.Is(err, ErrNotHeld) {
		t.Errorf("for certain: %v", err)
	}
}

func TestServiceEndpoints(t *testing.T) {
	for _, e := range []string{"https://h:1", "ftp://h", "http://", "http://h:1/?x=1", "h h"} {
		if _, err := OpenHTTP(t.Context(), Config{Endpoints: []string{e}, Lease: time.Second}); !errors.Is(err, ErrConfig) {
			t.Errorf("%q: %v", e, err)
		}
	}
	if _, err := OpenGRPC(t.Context(), Config{}); !errors.Is(err, ErrConfig) {
		t.Errorf("no endpoint: %v", err)
	}
}
