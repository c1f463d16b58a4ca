package conform

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/protocol"
	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// asAdapter says that this test binary is an adapter, and how it errs.
const asAdapter = "DLMTEST_TEST_CONFORM"

func TestMain(m *testing.M) {
	if way := os.Getenv(asAdapter); way != "" {
		serve(way)
	}
	patience = 2 * time.Second
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // they mostly wait
		panic(err)
	}
	os.Exit(m.Run())
}

// files is a lock that all processes of a machine share: flock(2) of a file.
type files struct {
	dir   string
	way   string
	lease time.Duration
}

func serve(way string) {
	if net, ok := strings.CutPrefix(way, "net-"); ok {
		serveNet(net)
	}
	offers := []string{"try", "wait"}
	if offer := map[string]string{"token-falls": "token", "readers": "shared", "readers-alone": "shared", "readers-unseen": "shared", "readers-rush": "shared",
		"permits": "permits", "wants-one": "permits", "permits-of-one": "permits", "renews": "renews", "forgets": "renews", "fifo": "order", "lifo": "order"}[way]; offer != "" {
		offers = append(offers, offer)
	}
	adapter.Main(adapter.Adapter{Name: "flock", Library: "1", Offers: offers,
		Open: func(_ context.Context, c adapter.Config, _ adapter.Tell) (adapter.Session, error) {
			return &files{c.Endpoints[0], way, c.Lease}, nil
		}})
}

func (f *files) Try(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	held, err := f.take(a)
	if err != nil {
		return nil, err
	}
	if f.way == "forgets" { // its lease ends, and it has claimed that it would not
		time.AfterFunc(f.lease, func() { _ = held.close() })
	}
	g := &adapter.Grant{State: held}
	if f.way == "token-falls" {
		g.Token = max(1, 1<<50-adapter.Monotonic()/1e6)
	}
	return g, nil
}

func (f *files) Acquire(ctx context.Context, a adapter.Ask) (*adapter.Grant, error) {
	if f.way == "ignores-wait" || f.way == "no-wait" || f.way == "no-limit" {
		ctx = context.WithoutCancel(ctx)
	}
	first := func() bool { return true }
	if f.way == "fifo" || f.way == "lifo" {
		var leave func()
		first, leave = f.ticket(a.Key)
		defer leave()
	}
	for {
		g, err := (*adapter.Grant)(nil), adapter.ErrNotGranted
		if first() {
			g, err = f.Try(ctx, a)
		}
		if err == nil {
			return g, nil
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ticket queues by a file whose name is the time, and says when its turn has come: the
// oldest is first, or of lifo the newest.
func (f *files) ticket(key string) (first func() bool, leave func()) {
	h := fnv.New64()
	fmt.Fprint(h, key)
	dir := filepath.Join(f.dir, fmt.Sprintf("queue-%x", h.Sum64()))
	own := filepath.Join(dir, fmt.Sprintf("%020d", adapter.Monotonic()))
	err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(own, nil, 0o644))
	return func() bool {
		all, _ := filepath.Glob(dir + "/*")
		slices.Sort(all)
		if f.way == "lifo" {
			slices.Reverse(all)
		}
		return err == nil && len(all) > 0 && all[0] == own
	}, func() { _ = os.Remove(own) }
}

func (f *files) Release(_ context.Context, g *adapter.Grant) error {
	if f.way == "keeps" {
		return nil
	}
	return g.State.(locked).close()
}

// locked are the files of one grant: one, or one for each permit.
type locked []*os.File

func (l locked) close() (err error) {
	for _, file := range l {
		err = errors.Join(err, file.Close())
	}
	return err
}

func (f *files) take(a adapter.Ask) (held locked, err error) {
	permits, want, how := max(1, a.Permits), max(1, a.Want), syscall.LOCK_EX
	switch {
	case f.way == "grants-none":
		return nil, errors.New("connection refused")
	case f.way == "wants-one":
		want = 1
	case f.way == "permits-of-one":
		permits, want = 1, 1
	case f.way == "readers-unseen" && a.Shared:
		return nil, nil
	case f.way == "readers" && a.Shared:
		how = syscall.LOCK_SH
	case f.way == "readers-rush": // a writer waits for readers, and they for none
		return f.rush(a)
	}
	for n := 0; n < permits && len(held) < want; n++ {
		h := fnv.New64()
		fmt.Fprint(h, a.Key, n)
		file, err := os.OpenFile(filepath.Join(f.dir, fmt.Sprintf("%x", h.Sum64())), os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, errors.Join(err, held.close())
		}
		if err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB); err != nil && f.way != "grants-all" {
			_ = file.Close()
			continue
		}
		held = append(held, file)
	}
	if len(held) == want {
		return held, nil
	}
	_ = held.close()
	if f.way == "says-unknown" {
		return nil, errors.New("held by another")
	}
	return nil, adapter.ErrHeld
}

// rush lets readers in whoever holds the key: they leave a mark that only writers heed.
func (f *files) rush(a adapter.Ask) (locked, error) {
	readers := *f
	readers.way = "readers"
	mark := a
	mark.Key += "/readers"
	held, err := readers.take(mark)
	if err != nil || a.Shared {
		return held, err
	}
	own, err := readers.take(a)
	return own, errors.Join(err, held.close())
}

func (f *files) Close() error {
	if f.way == "prints-at-close" {
		_, _ = os.NewFile(1, "stdout").WriteString("bye\n")
	}
	return nil
}

func command(way string) protocol.Command {
	return protocol.Command{Argv: []string{os.Args[0]}, Env: []string{asAdapter + "=" + way},
		Limits: protocol.Limits{Close: 2 * time.Second, End: 2 * time.Second}}
}

// A sound adapter passes, and each mistake is found by the check that is about it.
func TestFindings(t *testing.T) {
	for way, want := range map[string]string{
		"none": "", "grants-all": "held", "says-unknown": "try", "keeps": "round-trip", "token-falls": "token", "prints-at-close": "open",
		"readers": "", "readers-alone": "shared", "readers-unseen": "shared", "readers-rush": "shared", "permits": "", "wants-one": "permits", "permits-of-one": "permits",
		"renews": "", "forgets": "renews", "grants-none": "round-trip", "fifo": "", "lifo": "order",
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			c := locks.Config{Endpoints: []string{t.TempDir()}, Lease: 800 * time.Millisecond, Client: "c"}
			r := Run(t.Context(), command(way), c)
			found, hello, asked := r.Findings, r.Hello, r.Asked
			if want == "" && (len(found) > 0 || hello.Name != "flock") {
				t.Errorf("%+v of %+v", found, hello)
			}
			if way == "grants-none" && (len(found) != 1 || asked == len(Checks)) {
				t.Errorf("%d checks of an adapter that gets no key: %+v", asked, found)
			}
			if want != "" && !slices.ContainsFunc(found, func(f Finding) bool { return f.Check == want && f.Problem != "" && f.Todo+f.About != "" }) {
				t.Errorf("%s was not found by %s: %+v", way, want, found)
			}
		})
	}
}

// A command that is no adapter is told so at once, and asked no more.
func TestNoAdapter(t *testing.T) {
	for name, argv := range map[string][]string{"missing": {"/no/such/program"}, "talks": {"echo", "Usage: mine [options]"}, "ends": {"true"}} {
		r := Run(t.Context(), protocol.Command{Argv: argv}, locks.Config{Lease: time.Second})
		found, asked := r.Findings, r.Asked
		if asked != 1 || len(found) != 1 || found[0].Check != "hello" || strings.Contains(found[0].Problem, "%!") {
			t.Errorf("%s: %+v", name, found)
		}
	}
}
