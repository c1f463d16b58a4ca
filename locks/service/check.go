package service

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"
)

// tryLock is the health check: an open port is no proof that locks are granted.
func tryLock(ctx context.Context, node, bearer string) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	host, _ := os.Hostname() // only a name
	b := map[string]any{"lock_key": "health/" + host, "client_id": rand.Text(), "lease_time_ms": LeaseMin.Milliseconds(), "block_time_ms": 1000}
	if err := post(ctx, "http://"+node+"/api/v1/locks/acquire", bearer, b); err != nil {
		return err
	}
	delete(b, "lease_time_ms")
	delete(b, "block_time_ms")
	return post(ctx, "http://"+node+"/api/v1/locks/release", bearer, b)
}

func post(ctx context.Context, url, bearer string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, _ := io.ReadAll(io.LimitReader(resp.Body, bodyMax)) // only for the message
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", url, resp.Status, bytes.TrimSpace(answer))
	}
	return nil
}
