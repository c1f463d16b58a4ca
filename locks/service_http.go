package locks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// OpenHTTP opens a session with a lock service that offers the HTTP side of the contract
// at each endpoint, a host:port or the URL before /api/v1.
func OpenHTTP(_ context.Context, c Config) (Client, error) {
	return newServiceLock("http", c, func() (remote, error) { return newHTTP(c) })
}

// httpRemote speaks JSON over HTTP/1.1, without TLS.
type httpRemote struct {
	bases  []string
	bearer string
	client *http.Client
}

func newHTTP(c Config) (*httpRemote, error) {
	r := &httpRemote{bearer: c.Bearer, client: &http.Client{
		Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: c.Lease / 4}).DialContext, MaxIdleConnsPerHost: 16},
		// A POST that is sent elsewhere would be another request than the one that is timed.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, e := range c.Endpoints {
		if !strings.Contains(e, "://") {
			e = "http://" + e
		}
		u, err := url.Parse(e)
		if err != nil || u.Scheme != "http" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("%w: locks: http: endpoint %q: want host:port or http://host:port/path", ErrConfig, e)
		}
		r.bases = append(r.bases, strings.TrimSuffix(u.String(), "/")+"/api/v1/locks/")
	}
	return r, nil
}

// httpFields are those of every request and answer of the contract.
type httpFields struct {
	Lock    string `json:"lock_key,omitempty"`
	Client  string `json:"client_id,omitempty"`
	Lease   int64  `json:"lease_time_ms,omitempty"`
	Block   int64  `json:"block_time_ms,omitempty"`
	Token   int64  `json:"fencing_token,omitempty"`
	Left    int64  `json:"lease_left_ms,omitempty"`
	Effect  string `json:"effect,omitempty"`
	Message string `json:"message,omitempty"`
}

func (h *httpRemote) acquire(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error) {
	a, err := h.post(ctx, at, "acquire", httpFields{Lock: q.key, Client: q.client, Lease: q.lease.Milliseconds(), Block: q.block.Milliseconds()})
	return answered(a), err
}

func (h *httpRemote) renew(ctx context.Context, at int, q serviceRequest) (serviceAnswer, error) {
	a, err := h.post(ctx, at, "renew", httpFields{Lock: q.key, Client: q.client, Token: q.token, Lease: q.lease.Milliseconds()})
	return answered(a), err
}

func (h *httpRemote) release(ctx context.Context, at int, q serviceRequest) error {
	_, err := h.post(ctx, at, "release", httpFields{Lock: q.key, Client: q.client, Token: q.token})
	return err
}

func answered(a httpFields) serviceAnswer {
	return serviceAnswer{token: a.Token, lease: time.Duration(a.Lease) * time.Millisecond}
}

func (h *httpRemote) info(ctx context.Context, at int, key string) (Holder, error) {
	a, err := h.do(ctx, http.MethodGet, h.bases[at]+url.PathEscape(key), nil, false)
	if errors.Is(err, ErrNotHeld) {
		return Holder{}, nil
	}
	return Holder{Owner: a.Client, Left: time.Duration(a.Left) * time.Millisecond}, err
}

func (h *httpRemote) close() error {
	h.client.CloseIdleConnections()
	return nil
}

func (h *httpRemote) post(ctx context.Context, at int, what string, f httpFields) (httpFields, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return httpFields{}, fmt.Errorf("%w: %w", errDefinite, err)
	}
	return h.do(ctx, http.MethodPost, h.bases[at]+what, body, what == "acquire")
}

func (h *httpRemote) do(ctx context.Context, method, url string, body []byte, acquires bool) (f httpFields, err error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return f, fmt.Errorf("%w: %w", errDefinite, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if h.bearer != "" {
		req.Header.Set("Authorization", "Bearer "+h.bearer)
	}
	resp, err := h.client.Do(req)
	if neverSent(err) {
		return f, fmt.Errorf("%w: %w", errBusy, err)
	}
	if err != nil {
		return f, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return f, fmt.Errorf("the answer broke off: %w", err)
	}
	// Without its body a refusal is one all the same; a grant is none.
	if err := json.Unmarshal(text, &f); err != nil && resp.StatusCode == http.StatusOK {
		return f, fmt.Errorf("the answer is no JSON object: %w", err)
	}
	return f, httpMeans(resp.StatusCode, acquires, f.Effect, fmt.Sprintf("%s: %s", resp.Status, short(f.Message, text)))
}

// httpMeans is what a status proves. Whatever a proxy may say for a service that it has
// lost (502, 504, a 503 without effect: none) leaves open what the service did.
func httpMeans(status int, acquires bool, effect, text string) error {
	switch {
	case status == http.StatusOK:
		return nil
	case status == http.StatusConflict && acquires:
		return fmt.Errorf("%w: %s", errDefinite, text)
	case !acquires && (status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusConflict):
		return fmt.Errorf("%w: %s", ErrNotHeld, text)
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable && effect == "none":
		return fmt.Errorf("%w: %s", errBusy, text)
	case status == http.StatusRequestTimeout, status >= 500, status < 300:
		return errors.New(text)
	}
	// The rest of 3xx and 4xx: the request itself is refused, and always will be.
	return fmt.Errorf("%w: %w: %s", errDefinite, ErrConfig, text)
}

// short is a message, or the beginning of a body that has none.
func short(message string, body []byte) string {
	if message != "" {
		return message
	}
	return strings.TrimSpace(string(body[:min(len(body), 200)]))
}
