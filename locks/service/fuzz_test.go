package service_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks/service"
)

// Whatever a body holds, the answer is a documented refusal: with etcd out of reach
// nothing can be granted.
func FuzzBody(f *testing.F) {
	for _, body := range []string{"", "{", "null", `{"lock_key":"k","client_id":"c","lease_time_ms":2000,"block_time_ms":1}`,
		`{"lock_key":"k","client_id":"c","fencing_token":1}`, `{"lock_key":"\ud800","client_id":"/../%2F","lease_time_ms":9223372036854775807}`} {
		for what := range byte(3) {
			f.Add(what, []byte(body))
		}
	}
	s, err := service.New(service.Config{Etcd: []string{"127.0.0.1:1"}, Limit: time.Millisecond})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	h := s.Handler()
	f.Fuzz(func(t *testing.T, what byte, body []byte) {
		path := "/api/v1/locks/" + []string{"acquire", "renew", "release"}[what%3]
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body)))
		var answer struct{ Error, Effect, Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || answer.Message == "" {
			t.Fatalf("%d %s: %v", w.Code, w.Body, err)
		}
		if !slices.Contains([]int{400, 422, 503}, w.Code) || answer.Effect != "none" {
			t.Fatalf("%s %q: %d %s", path, body, w.Code, w.Body)
		}
	})
}
