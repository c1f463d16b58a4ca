package workloads

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// counted is a lock that counts what it is asked for in a file, which outlives the worker
// as the lock's server does.
type counted struct {
	locks.Client
	asked, told *atomic.Int64
}

func countIn(file string) (counted, error) {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return counted{}, err
	}
	defer func() { _ = f.Close() }()
	if err := f.Truncate(16); err != nil {
		return counted{}, err
	}
	mem, err := syscall.Mmap(int(f.Fd()), 0, 16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return counted{}, err
	}
	at := func(i int) *atomic.Int64 { return (*atomic.Int64)(unsafe.Pointer(&mem[i])) }
	return counted{asked: at(0), told: at(8)}, nil
}

func (c counted) Acquire(_ context.Context, key string) (*locks.Grant, error) {
	c.asked.Add(1)
	return &locks.Grant{Key: key}, nil
}

func (c counted) Release(context.Context, *locks.Grant) error {
	c.asked.Add(1)
	return nil
}

// recordUntilKilled acquires and releases as fast as it can be recorded.
func recordUntilKilled(file string) error {
	lock, err := countIn(file)
	if err != nil {
		return err
	}
	r := newRecorder(&link{out: os.Stdout, armed: map[string]bool{}}, Spec{Node: "client-1", Wait: time.Minute})
	r.lock = lock
	for p := r.process(); ; {
		g, err := p.acquire(context.Background(), "k")
		if err == nil {
			lock.told.Add(1)
			err = p.release(context.Background(), g)
		}
		if err != nil {
			return err
		}
		lock.told.Add(1)
	}
}

// Whatever a killed worker has asked for, and whatever it was told and has gone on from, is
// in the history: an acquire that was forgotten could hide a second holder.
func TestAKilledWorkerTakesNothingAlong(t *testing.T) {
	for range 5 {
		file := filepath.Join(t.TempDir(), "counts")
		counts, err := countIn(file)
		if err != nil {
			t.Fatal(err)
		}
		invokes, completions := recordedBy(t, file, counts)
		if asked, told := counts.asked.Load(), counts.told.Load(); invokes < asked || completions < told || told == 0 {
			t.Errorf("%d invokes and %d completions are recorded, but %d were asked for and %d answered", invokes, completions, asked, told)
		}
	}
}

// recordedBy is what an agent passes on of a worker that it kills in the midst of its work.
func recordedBy(t *testing.T, file string, counts counted) (invokes, completions int64) {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- agent.Main("client-1", inR, outW); _ = outW.Close() }()
	defer func() {
		_ = inW.Close()
		_, _ = io.Copy(io.Discard, outR)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	order := json.NewEncoder(inW)
	if err := order.Encode(agent.Command{ID: 1, Do: agent.Start, Child: &agent.Child{Argv: []string{os.Args[0]}, Env: []string{recordsIn + "=" + file}, Speaks: true}}); err != nil {
		t.Fatal(err)
	}
	go func() {
		for counts.told.Load() < 2000 {
			time.Sleep(time.Millisecond)
		}
		_ = order.Encode(agent.Command{ID: 2, Do: agent.Kill})
	}()
	for lines := bufio.NewScanner(outR); lines.Scan(); {
		var m agent.Message
		var op history.Op
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatalf("%q: %v", lines.Bytes(), err)
		}
		switch {
		case m.Exit != nil:
			return invokes, completions
		case m.Op == nil:
		case json.Unmarshal(m.Op, &op) != nil:
			t.Fatalf("operation %q", m.Op)
		case op.Type == history.Invoke:
			invokes++
		default:
			completions++
		}
	}
	t.Fatal("the agent has ended before its child")
	return 0, 0
}
