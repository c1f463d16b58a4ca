package service

import (
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"net/http"
	"time"
)

// OpenAPI describes the HTTP side. The tests hold requests and answers against it.
//
//go:embed openapi.yaml
var OpenAPI []byte

// bodyMax is the longest body that is read.
const bodyMax = 64 << 10

// The bodies of openapi.yaml.
type (
	acquireBody struct {
		Lock   string `json:"lock_key"`
		Client string `json:"client_id"`
		Lease  int64  `json:"lease_time_ms"`
		Block  int64  `json:"block_time_ms"`
	}
	holdBody struct {
		Lock   string `json:"lock_key"`
		Client string `json:"client_id"`
		Token  int64  `json:"fencing_token"`
		Lease  int64  `json:"lease_time_ms"`
	}
	releaseBody struct {
		Lock   string `json:"lock_key"`
		Client string `json:"client_id"`
		Token  int64  `json:"fencing_token"`
	}
	grantBody struct {
		Lock   string `json:"lock_key"`
		Client string `json:"client_id"`
		Token  int64  `json:"fencing_token"`
		Lease  int64  `json:"lease_time_ms"`
		Until  int64  `json:"expires_at_epoch_ms"`
	}
	infoBody struct {
		Lock   string `json:"lock_key"`
		Client string `json:"client_id"`
		Token  int64  `json:"fencing_token"`
		Since  int64  `json:"since_epoch_ms"`
		Until  int64  `json:"expires_at_epoch_ms"`
		Left   int64  `json:"lease_left_ms"`
	}
	errorBody struct {
		Error   string `json:"error"`
		Effect  string `json:"effect"`
		Message string `json:"message"`
	}
)

// Handler serves the HTTP side.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, answer func(w http.ResponseWriter, r *http.Request) (any, error)) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := s.admits(r.Header.Get("Authorization")); err != nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
				fail(w, err)
			} else if body, err := answer(w, r); err != nil {
				fail(w, err)
			} else {
				reply(w, http.StatusOK, body)
			}
		})
	}
	handle("POST /api/v1/locks/acquire", s.postAcquire)
	handle("POST /api/v1/locks/renew", s.postRenew)
	handle("POST /api/v1/locks/release", s.postRelease)
	handle("GET /api/v1/locks/{lock_key}", s.getLock)
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml")
		_, _ = w.Write(OpenAPI)
	})
	return mux
}

// admits checks the bearer token of a request.
func (s *Server) admits(authorization string) error {
	want := "Bearer " + s.config.Bearer
	if s.config.Bearer != "" && subtle.ConstantTimeCompare([]byte(authorization), []byte(want)) != 1 {
		return problemf(unauthorized, "the request lacks the bearer token of this service")
	}
	return nil
}

func (s *Server) postAcquire(w http.ResponseWriter, r *http.Request) (any, error) {
	var b acquireBody
	if err := decode(w, r, &b); err != nil {
		return nil, err
	}
	q := request{lock: b.Lock, client: b.Client, lease: millis(b.Lease), block: millis(b.Block)}
	g, err := s.acquire(r.Context(), q)
	return granted(q, g), err
}

func (s *Server) postRenew(w http.ResponseWriter, r *http.Request) (any, error) {
	var b holdBody
	if err := decode(w, r, &b); err != nil {
		return nil, err
	}
	q := request{lock: b.Lock, client: b.Client, token: b.Token, lease: millis(b.Lease)}
	g, err := s.renew(r.Context(), q)
	return granted(q, g), err
}

func (s *Server) postRelease(w http.ResponseWriter, r *http.Request) (any, error) {
	var b releaseBody
	if err := decode(w, r, &b); err != nil {
		return nil, err
	}
	return struct{}{}, s.release(r.Context(), request{lock: b.Lock, client: b.Client, token: b.Token})
}

func (s *Server) getLock(_ http.ResponseWriter, r *http.Request) (any, error) {
	lock := r.PathValue("lock_key")
	i, err := s.info(r.Context(), lock)
	return infoBody{Lock: lock, Client: i.client, Token: i.token, Since: i.since.UnixMilli(), Until: i.until.UnixMilli(), Left: i.left.Milliseconds()}, err
}

func granted(q request, g grant) grantBody {
	return grantBody{Lock: q.lock, Client: q.client, Token: g.token, Lease: g.lease.Milliseconds(), Until: g.until.UnixMilli()}
}

// millis keeps what does not fit from becoming another number.
func millis(n int64) time.Duration {
	const most = int64(1<<63-1) / int64(time.Millisecond)
	return time.Duration(min(max(n, -most), most)) * time.Millisecond
}

func decode(w http.ResponseWriter, r *http.Request, into any) error {
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, bodyMax))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return problemf(malformed, "the body is no JSON object of the documented fields: %v", err)
	}
	if in.More() {
		return problemf(malformed, "the body goes on after its JSON object")
	}
	return nil
}

func fail(w http.ResponseWriter, err error) {
	p := asProblem(err)
	if p.kind == busy || p.kind == unavailable {
		w.Header().Set("Retry-After", "1")
	}
	reply(w, p.status, errorBody{p.name, p.effect, p.message})
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client is gone: it will ask again
}
