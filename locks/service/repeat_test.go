package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/dlmtest/dlmtest/locks/service"
	"github.com/dlmtest/dlmtest/locks/service/servicetest"
	"github.com/dlmtest/dlmtest/nemesis/agent/links"
	"github.com/dlmtest/dlmtest/nemesis/agent/links/wire"
)

// queue counts the places of all locks, at etcd itself.
func queue(t *testing.T, etcd string) (places int64) {
	t.Helper()
	db, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Get(t.Context(), "lockservice/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		t.Fatal(err)
	}
	return r.Count
}

// place is what stands in one.
func place(t *testing.T, etcd, key string) string {
	t.Helper()
	db, err := clientv3.New(clientv3.Config{Endpoints: []string{etcd}, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r, err := db.Get(t.Context(), key)
	if err != nil || len(r.Kvs) != 1 {
		t.Fatal(r, err)
	}
	return string(r.Kvs[0].Value)
}

// until waits for so many places.
func until(t *testing.T, etcd string, want int64) {
	t.Helper()
	for begin := time.Now(); queue(t, etcd) != want; time.Sleep(5 * time.Millisecond) {
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("%d places, want %d", queue(t, etcd), want)
		}
	}
}

// background asks and delivers the answer.
func (a *api) background(path string, body any) <-chan answer {
	done := make(chan answer, 1)
	go func() { done <- a.post(path, body) }()
	return done
}

// The holder that asks again, at any node, is told the same grant, and its lease runs anew.
func TestHolderAsksAgain(t *testing.T) {
	t.Parallel()
	c := service.Config{Etcd: []string{servicetest.Etcd(t)}}
	a, b := contract(t, servicetest.Start(t, c)), contract(t, servicetest.Start(t, c))
	first := a.want(200, "acquire", acquire("k", "c", 0))
	time.Sleep(50 * time.Millisecond)
	again := b.want(200, "acquire", acquire("k", "c", 0))
	if again.number("fencing_token") != first.number("fencing_token") || again.number("expires_at_epoch_ms") <= first.number("expires_at_epoch_ms") {
		t.Errorf("first %v, again %v", first.body, again.body)
	}
	a.want(409, "acquire", acquire("k", "other", 0))
	a.want(200, "release", hold("k", "c", first.number("fencing_token")))
	next := b.want(200, "acquire", acquire("k", "c", 0))
	if next.number("fencing_token") <= first.number("fencing_token") {
		t.Errorf("a new grant of the same client has token %d after %d", next.number("fencing_token"), first.number("fencing_token"))
	}
}

// A client whose node was lost while it waited asks another: it keeps its place, and the
// first node, which finds that out later, must not take the grant away.
func TestWaiterAsksAnotherNode(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	c := service.Config{Etcd: []string{etcd}}
	a, b := contract(t, servicetest.Start(t, c)), contract(t, servicetest.Start(t, c))
	held := a.want(200, "acquire", acquire("k", "holder", 0))
	lost := a.background("acquire", acquire("k", "waiter", 10_000))
	until(t, etcd, 2)
	later := a.background("acquire", acquire("k", "later", 10_000))
	until(t, etcd, 3)
	before := place(t, etcd, "lockservice/k/waiter")
	again := b.background("acquire", acquire("k", "waiter", 10_000))
	for place(t, etcd, "lockservice/k/waiter") == before {
		time.Sleep(time.Millisecond)
	}
	a.want(200, "release", hold("k", "holder", held.number("fencing_token")))
	got := <-again
	if got.status != 200 {
		t.Fatalf("the second request: %+v", got)
	}
	if got := <-lost; got.status != 409 || got.body["effect"] != "none" {
		t.Errorf("the first request: %+v", got)
	}
	b.want(200, "renew", hold("k", "waiter", got.number("fencing_token")))
	b.want(200, "release", hold("k", "waiter", got.number("fencing_token")))
	if last := <-later; last.status != 200 || last.number("fencing_token") <= got.number("fencing_token") {
		t.Errorf("the one behind: %+v", last)
	}
}

// A client that hangs up while it waits leaves nothing behind; nor does one that releases.
func TestWaiterGoes(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	node := servicetest.Start(t, service.Config{Etcd: []string{etcd}})
	a := contract(t, node)
	a.want(200, "acquire", acquire("k", "holder", 0))
	ctx, hangUp := context.WithCancel(t.Context())
	body, _ := json.Marshal(acquire("k", "waiter", 10_000))
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+node.HTTP+"/api/v1/locks/acquire", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan error, 1)
	go func() {
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		gone <- err
	}()
	until(t, etcd, 2)
	hangUp()
	if <-gone == nil {
		t.Error("it was answered")
	}
	until(t, etcd, 1)
	waiting := a.background("acquire", acquire("k", "waiter", 10_000))
	until(t, etcd, 2)
	a.want(200, "release", hold("k", "waiter", 0))
	if got := <-waiting; got.status != 409 || got.body["effect"] != "none" {
		t.Errorf("after its own release: %+v", got)
	}
}

// untilBusy waits until the one that may wait at a node does: it has its place in the queue before it knows of it, and counts.
func untilBusy(t *testing.T, a *api) {
	t.Helper()
	for n := 0; ; n++ {
		got := a.post("acquire", acquire("k", fmt.Sprint("third", n), 1))
		if got.status == 429 && got.body["effect"] == "none" && got.header.Get("Retry-After") != "" {
			return
		}
		if got.status != 409 || n > 100 {
			t.Fatalf("the third: %+v", got)
		}
	}
}

// More requests than may wait are told so, and leave the queue.
func TestBusy(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	a := contract(t, servicetest.Start(t, service.Config{Etcd: []string{etcd}, Waiters: 1}))
	held := a.want(200, "acquire", acquire("k", "holder", 0))
	waiting := a.background("acquire", acquire("k", "waiter", 10_000))
	until(t, etcd, 2)
	untilBusy(t, a)
	until(t, etcd, 2)
	a.want(200, "release", hold("k", "holder", held.number("fencing_token")))
	if got := <-waiting; got.status != 200 {
		t.Errorf("the waiter: %+v", got)
	}
}

// A node that goes down sends its waiters away for certain; what it granted stays, and
// another node goes on with it.
func TestShutdown(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	c := service.Config{Etcd: []string{etcd}, Waiters: 1}
	going := servicetest.Start(t, c)
	a, b := contract(t, going), contract(t, servicetest.Start(t, c))
	held := a.want(200, "acquire", acquire("k", "holder", 0))
	waiting := a.background("acquire", acquire("k", "waiter", 10_000))
	until(t, etcd, 2)
	untilBusy(t, a)
	until(t, etcd, 2)
	going.Stop()
	if got := <-waiting; got.status != 503 || got.body["effect"] != "none" {
		t.Errorf("the waiter: %+v", got)
	}
	until(t, etcd, 1)
	b.want(200, "renew", hold("k", "holder", held.number("fencing_token")))
	b.want(200, "release", hold("k", "holder", held.number("fencing_token")))
}

// etcd has granted, and its answer comes a lease and more later: the service must not
// pass it on. That holds for each of the three answers an acquire waits for.
func TestLateAnswerOfEtcd(t *testing.T) {
	t.Parallel()
	etcd := servicetest.Etcd(t)
	for n, message := range []string{"LeaseGrant", "Txn", "Txn"} {
		t.Run(fmt.Sprint(n, message), func(t *testing.T) {
			t.Parallel()
			all, err := links.Open(map[string]string{"etcd": etcd}, links.Options{Protocol: map[string]wire.Protocol{"etcd": wire.HTTP2}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = all.Close() })
			way, err := all.Link("etcd")
			if err != nil {
				t.Fatal(err)
			}
			a := contract(t, servicetest.Start(t, service.Config{Etcd: []string{way.Addr()}, Limit: 20 * time.Second}))
			b := contract(t, servicetest.Start(t, service.Config{Etcd: []string{etcd}}))
			lock := fmt.Sprint("late", n)
			f, err := way.HoldAnswer(links.When{Name: "HEADERS", Contains: message, Skip: n / 2})
			if err != nil {
				t.Fatal(err)
			}
			late := a.background("acquire", acquire(lock, "slow", 0))
			<-f.Hit()
			time.Sleep(3500 * time.Millisecond) // its lease of 2 s has ended
			next := b.want(200, "acquire", acquire(lock, "next", 0))
			if err := f.Heal(); err != nil {
				t.Fatal(err)
			}
			if got := <-late; got.status != 409 && got.status != 503 {
				t.Errorf("answered %+v, while %v", got, next.body)
			}
			b.want(200, "release", hold(lock, "next", next.number("fencing_token")))
		})
	}
}
