package service_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/locks/service/servicetest"
)

// api holds every request and every answer against openapi.yaml.
type api struct {
	*testing.T
	node   string
	router routers.Router
}

func contract(t *testing.T, node *servicetest.Node) *api {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(service.OpenAPI)
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	return &api{t, "http://" + node.HTTP, router}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   map[string]any
}

func (a answer) number(field string) int64 {
	n, _ := a.body[field].(float64)
	return int64(n)
}

// post sends a body, which may be text or what becomes JSON. Whatever the service does
// not refuse for its form must be as the file says; so must each answer.
func (a *api) post(path string, body any, header ...string) answer {
	a.Helper()
	text, ok := body.(string)
	if !ok {
		b, err := json.Marshal(body)
		if err != nil {
			a.Fatal(err)
		}
		text = string(b)
	}
	return a.do(http.MethodPost, "/api/v1/locks/"+path, text, header...)
}

func (a *api) do(method, path, text string, header ...string) answer {
	a.Helper()
	request := func() *http.Request {
		r, err := http.NewRequestWithContext(a.Context(), method, a.node+path, bytes.NewReader([]byte(text)))
		if err != nil {
			a.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		for i := 0; i+1 < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		return r
	}
	resp, err := http.DefaultClient.Do(request())
	if err != nil {
		a.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		a.Error(err)
	}
	r := request()
	route, params, err := a.router.FindRoute(r)
	if err != nil {
		a.Errorf("%s %s: %v", method, path, err)
		return answer{}
	}
	in := &openapi3filter.RequestValidationInput{Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
	formed := openapi3filter.ValidateRequest(a.Context(), in)
	if refused := resp.StatusCode == 400 || resp.StatusCode == 422; formed != nil && !refused && resp.StatusCode != 401 {
		a.Errorf("%s %s %s: answered %d, but by openapi.yaml: %v", method, path, text, resp.StatusCode, formed)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header,
		Options: in.Options}
	if err := openapi3filter.ValidateResponse(a.Context(), out.SetBodyBytes(content)); err != nil {
		a.Errorf("%s %s: %d %s: %v", method, path, resp.StatusCode, content, err)
	}
	b := answer{status: resp.StatusCode, header: resp.Header}
	if err := json.Unmarshal(content, &b.body); err != nil {
		a.Errorf("%s %s: %s: %v", method, path, content, err)
	}
	return b
}

// want asks, and wants this status.
func (a *api) want(status int, path string, body any, header ...string) answer {
	a.Helper()
	got := a.post(path, body, header...)
	if got.status != status {
		a.Errorf("%s %v: %d %v, want %d", path, body, got.status, got.body, status)
	}
	return got
}

type fields map[string]any

func acquire(lock, client string, block int) fields {
	return fields{"lock_key": lock, "client_id": client, "lease_time_ms": 2000, "block_time_ms": block}
}

func hold(lock, client string, token int64) fields {
	return fields{"lock_key": lock, "client_id": client, "fencing_token": token}
}

// Every status that openapi.yaml names is to be had, and says what it says there.
func TestStatuses(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	a := contract(t, servicetest.Start(t, service.Config{Etcd: []string{etcd}}))

	g := a.want(200, "acquire", acquire("a/b ü", "one", 0))
	token := g.number("fencing_token")
	if until := time.UnixMilli(g.number("expires_at_epoch_ms")); token <= 0 || time.Until(until) > 2*time.Second || time.Until(until) < -10*time.Second {
		t.Errorf("granted %v", g.body)
	}
	info := a.do(http.MethodGet, "/api/v1/locks/a%2Fb%20%C3%BC", "")
	if info.status != 200 || info.body["client_id"] != "one" || info.number("fencing_token") != token || info.number("lease_left_ms") > 2000 ||
		info.number("since_epoch_ms") > info.number("expires_at_epoch_ms") {
		t.Errorf("info: %+v", info)
	}
	a.want(200, "renew", hold("a/b ü", "one", token))
	for _, c := range []struct {
		status int
		path   string
		body   any
	}{
		{409, "acquire", acquire("a/b ü", "two", 0)},
		{409, "acquire", acquire("a/b ü", "two", 50)},
		{403, "renew", hold("a/b ü", "two", token)},
		{403, "renew", hold("a/b ü", "one", token+1)},
		{403, "release", hold("a/b ü", "two", token)},
		{403, "release", hold("a/b ü", "one", token+1)},
		{422, "renew", fields{"lock_key": "a/b ü", "client_id": "one", "fencing_token": token, "lease_time_ms": 1000}},
		{200, "renew", fields{"lock_key": "a/b ü", "client_id": "one", "fencing_token": token, "lease_time_ms": 5000}},
		{200, "acquire", fields{"lock_key": "a/b ü", "client_id": "one", "lease_time_ms": 3000}},
		{200, "release", hold("a/b ü", "one", token)},
		{404, "release", hold("a/b ü", "one", token)},
		{404, "renew", hold("a/b ü", "one", token)},
		{400, "acquire", "{"},
		{400, "acquire", "[]"},
		{400, "acquire", `{"lock_key": "k"} {}`},
		{400, "acquire", `{"lock_key": "k", "client_id": "c", "lease_time_ms": 2000, "lease": 1}`},
		{400, "acquire", `{"lock_key": 1}`},
		{400, "acquire", acquire("", "c", 0)},
		{400, "acquire", acquire("k", "", 0)},
		{400, "acquire", acquire("k", string(bytes.Repeat([]byte("c"), 513)), 0)},
		{400, "acquire", acquire(string(bytes.Repeat([]byte("k"), 70_000)), "c", 0)},
		{400, "renew", hold("k", "c", 0)},
		{400, "release", hold("k", "", 1)},
		{422, "acquire", fields{"lock_key": "k", "client_id": "c", "lease_time_ms": 2500}},
		{422, "acquire", fields{"lock_key": "k", "client_id": "c", "lease_time_ms": 1000}},
		{422, "acquire", fields{"lock_key": "k", "client_id": "c", "lease_time_ms": int64(1) << 62}},
		{422, "acquire", fields{"lock_key": "k", "client_id": "c"}},
		{422, "acquire", acquire("k", "c", 60_001)},
		{422, "acquire", acquire("k", "c", -1)},
	} {
		got := a.want(c.status, c.path, c.body)
		if c.status != 200 && got.body["effect"] != "none" {
			t.Errorf("%s %v: %v: a refusal has no effect", c.path, c.body, got.body)
		}
	}
	if got := a.do(http.MethodGet, "/api/v1/locks/k", ""); got.status != 404 {
		t.Errorf("info of a lock that none of all those took: %+v", got)
	}

	guarded := contract(t, servicetest.Start(t, service.Config{Etcd: []string{etcd}, Bearer: "secret"}))
	guarded.want(401, "acquire", acquire("k", "c", 0))
	guarded.want(401, "acquire", acquire("k", "c", 0), "Authorization", "Bearer secre")
	if got := guarded.want(401, "release", "{"); got.header.Get("WWW-Authenticate") != "Bearer" {
		t.Error("a 401 that does not ask for the token")
	}
	guarded.want(200, "acquire", acquire("k", "c", 0), "Authorization", "Bearer secret")
	guarded.want(200, "release", hold("k", "c", 0), "Authorization", "Bearer secret")

	dead := servicetest.Listen(t)
	defer dead.Close()
	lost := contract(t, servicetest.Start(t, service.Config{Etcd: []string{dead.Addr().String()}, Limit: 300 * time.Millisecond}))
	for path, body := range map[string]any{"acquire": acquire("k", "c", 1000), "renew": hold("k", "c", 1), "release": hold("k", "c", 1)} {
		got := lost.want(503, path, body)
		if got.body["effect"] != "none" || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %v: nothing was written", path, got.body)
		}
	}
	if got := lost.do(http.MethodGet, "/api/v1/locks/k", ""); got.status != 503 {
		t.Errorf("info: %+v", got)
	}
}
