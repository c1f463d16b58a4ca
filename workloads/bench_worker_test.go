package workloads

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bsm/redislock"
	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// bare is a library as its user calls it: no adapter, no recorder.
type bare func(ctx context.Context, key string) (release func() error, err error)

// BenchmarkWorker prints how many acquires and releases a second a worker makes that
// records them through the pipe to a real agent, beside the same library on the same
// server in a bare loop. The two take turns, so that a busy machine is busy for both.
func BenchmarkWorker(b *testing.B) {
	const lease = 10 * time.Second
	redisAt, etcdAt := benchServer(b, "redis"), benchServer(b, "etcd")
	for _, c := range []struct {
		backend, library, addr string
		pairs                  int // a turn
		open                   func() bare
	}{
		{"redis", "redislock", redisAt, 400, func() bare {
			l := redislock.New(redis.NewClient(&redis.Options{Addr: redisAt}))
			return func(ctx context.Context, key string) (func() error, error) {
				g, err := l.Obtain(ctx, key, lease, &redislock.Options{RetryStrategy: redislock.LinearBackoff(100 * time.Millisecond)})
				return func() error { return g.Release(ctx) }, err
			}
		}},
		{"redis", "redsync", redisAt, 400, func() bare {
			rs := redsync.New(goredis.NewPool(redis.NewClient(&redis.Options{Addr: redisAt})))
			return func(ctx context.Context, key string) (func() error, error) {
				m := rs.NewMutex(key, redsync.WithExpiry(lease))
				err := m.LockContext(ctx)
				return func() error { _, err := m.UnlockContext(ctx); return err }, err
			}
		}},
		{"etcd", "etcd-concurrency", etcdAt, 40, func() bare {
			db, err := clientv3.New(clientv3.Config{Endpoints: []string{etcdAt}, Logger: zap.NewNop()})
			if err != nil {
				b.Fatal(err)
			}
			s, err := concurrency.NewSession(db, concurrency.WithTTL(int(lease/time.Second)))
			if err != nil {
				b.Fatal(err)
			}
			return func(ctx context.Context, key string) (func() error, error) {
				m := concurrency.NewMutex(s, key)
				return func() error { return m.Unlock(ctx) }, m.Lock(ctx)
			}
		}},
	} {
		b.Run(c.library, func(b *testing.B) {
			worker, plain := recordedLoop(b, c.backend, c.library, c.addr, lease), bareLoop(b, c.open())
			var with, without, ratios []float64
			for b.Loop() {
				for range 20 {
					w, p := worker(c.pairs), plain(c.pairs)
					with, without, ratios = append(with, w), append(without, p), append(ratios, w/p)
				}
			}
			b.ReportMetric(middle(with), "recorded-ops/s")
			b.ReportMetric(middle(without), "bare-ops/s")
			b.ReportMetric(middle(with)/middle(without), "ratio")
			b.ReportMetric(1e6/middle(with)-1e6/middle(without), "µs-added/op")
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/10], "ratio-p10")
			b.ReportMetric(ratios[len(ratios)*9/10], "ratio-p90")
			b.ReportMetric(0, "ns/op") // one iteration means nothing
		})
	}
}

// recordedLoop acquires and releases as a worker does: adapter, recorder and agent.
func recordedLoop(b *testing.B, backend, library, addr string, lease time.Duration) func(pairs int) float64 {
	entry, err := libraries.Find(backend, library)
	if err != nil {
		b.Fatal(err)
	}
	spec := Spec{Node: "client-1", Wait: time.Minute, Lock: locks.Config{Endpoints: []string{addr}, Lease: lease, Client: "client-1"}}
	r := newRecorder(&link{out: agentPipe(b), armed: map[string]bool{}}, spec)
	if r.lock, err = entry.Open(b.Context(), spec.Lock); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = r.lock.Close() })
	p := r.process()
	return func(pairs int) float64 {
		return rate(pairs, func() error {
			g, err := p.acquire(b.Context(), "recorded")
			if err == nil {
				err = p.release(b.Context(), g)
			}
			return err
		}, b)
	}
}

// agentPipe is a worker's standard output, with an agent in a process of its own at the
// other end: that of a child which says nothing itself.
func agentPipe(b *testing.B) *os.File {
	file := filepath.Join(b.TempDir(), "pid")
	start, err := json.Marshal(agent.Command{ID: 1, Do: agent.Start, Child: &agent.Child{Speaks: true, Argv: []string{"sh", "-c", "echo $$ > " + file + "; exec sleep 3600"}}})
	if err != nil {
		b.Fatal(err)
	}
	a := exec.Command(os.Args[0], "agent")
	in, err := a.StdinPipe()
	if err == nil {
		err = a.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = in.Close(); _ = a.Wait() })
	if _, err := in.Write(append(start, '\n')); err != nil {
		b.Fatal(err)
	}
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(time.Millisecond) {
		pid, _ := os.ReadFile(file)
		if at, whole := strings.CutSuffix(string(pid), "\n"); whole {
			fd, err := syscall.Open("/proc/"+at+"/fd/1", syscall.O_WRONLY|syscall.O_CLOEXEC, 0) // blocking, as a standard output is
			if err != nil {
				b.Fatal(err)
			}
			out := os.NewFile(uintptr(fd), "the agent's pipe")
			b.Cleanup(func() { _ = out.Close() })
			return out
		}
	}
	b.Fatal("the agent starts no child")
	return nil
}

func bareLoop(b *testing.B, lock bare) func(pairs int) float64 {
	return func(pairs int) float64 {
		return rate(pairs, func() error {
			// A worker bounds every wait, and so does its user.
			ctx, cancel := context.WithTimeout(b.Context(), time.Minute)
			defer cancel()
			release, err := lock(ctx, "bare")
			if err == nil {
				err = release()
			}
			return err
		}, b)
	}
}

// rate is operations a second, of which a pair has two.
func rate(pairs int, pair func() error, b *testing.B) float64 {
	start := time.Now()
	for range pairs {
		if err := pair(); err != nil {
			b.Fatal(err)
		}
	}
	return 2 * float64(pairs) / time.Since(start).Seconds()
}

func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

// benchServer starts one on a loopback address of this process's own.
func benchServer(b *testing.B, kind string) (addr string) {
	pid := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 129+pid>>16&63, pid>>8&255, pid&255)
	addr = host + ":3001"
	cmd := exec.Command("redis-server", "--bind", host, "--port", "3001", "--save", "", "--dir", b.TempDir())
	if kind == "etcd" {
		addr = host + ":3002"
		peer := "http://" + host + ":3003"
		cmd = exec.Command("etcd", "--data-dir", b.TempDir(), "--listen-client-urls", "http://"+addr, "--advertise-client-urls", "http://"+addr,
			"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer)
	}
	if err := cmd.Start(); err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			_ = c.Close()
			return addr
		}
	}
	b.Fatalf("%s does not come up at %s", kind, addr)
	return ""
}
