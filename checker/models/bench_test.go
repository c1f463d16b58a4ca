package models_test

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
)

// rounds is how often a time is taken; the least counts, as what else the
// machine does only adds.
const rounds = 5

// BenchmarkGoals prints each figure beside its goal, all of one run, and draws
// the plot of docs/performance.md if PLOT names a file.
func BenchmarkGoals(b *testing.B) {
	g := goals{b: b, program: build(b), plot: map[string]*points{scanLine: {}, wholeLine: {}, judgeLine: {}, porcupineLine: {}}}
	g.heading()
	for _, c := range []struct{ unknown, zombies int }{{0, 0}, {0, 3}, {10, 0}, {10, 3}} {
		g.file(load{n: 1e6, clients: 20, unknown: c.unknown, zombies: c.zombies})
	}
	g.run(load{n: 1e6, clients: 20, unknown: 10, zombies: 3, tokens: true, lease: 1e6})
	g.stream()
	g.porcupine()
	g.hard()
	g.draw()
}

// goals prints a table as it goes.
type goals struct {
	b       *testing.B
	program string
	plot    map[string]*points
}

func (g *goals) heading() {
	average, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("\n%d processors, load average %s\n%-86s %14s  %s\n", runtime.NumCPU(), bytes.TrimSpace(average), "", "figure", "goal")
}

// most prints a figure that should be at most want.
func (g *goals) most(name string, figure, want float64, unit string) {
	g.line(name, figure, "at most", want, unit, figure <= want)
}

// least prints a figure that should be at least want.
func (g *goals) least(name string, figure, want float64, unit string) {
	g.line(name, figure, "at least", want, unit, figure >= want)
}

func (g *goals) line(name string, figure float64, how string, want float64, unit string, met bool) {
	fmt.Printf("%-86s %14s  %s %s: %s\n", name, number(figure)+unit, how, number(want)+unit, map[bool]string{true: "met", false: "MISSED"}[met])
}

func (g *goals) note(name, text string) { fmt.Printf("%-86s %14s\n", name, text) }

func number(x float64) string {
	if x >= 100 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.3g", x)
}

// build builds the program whose memory is measured.
func build(b *testing.B) string {
	path := filepath.Join(b.TempDir(), "dlmtest")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/dlmtest").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return path
}

// file measures a strict mutex from a file of dlmtest's own format.
func (g *goals) file(l load) {
	path := filepath.Join(g.b.TempDir(), "history.jsonl")
	g.write(path, func(add func(history.Op)) { l.run(func(e models.Event) { add(plain(e)) }) })
	name := fmt.Sprintf("mutex, %s operations, %d %% unknown, %d violations", power(l.n), l.unknown, l.zombies)
	g.fromFile(name, path, l.zombies)
	_ = os.Remove(path)
}

func (g *goals) fromFile(name, path string, found int) {
	scan, whole, check := time.Hour, time.Hour, time.Hour
	m, _ := models.Named("mutex")
	for range rounds {
		scan = min(scan, timed(func() { g.scan(path) }))
		whole = min(whole, timed(func() { g.want(found, judgeFile(g.b, m, models.Options{}, path)) }))
	}
	var events []models.Event
	for e := range open(g.b, path).Events() {
		events = append(events, e)
	}
	for range rounds {
		check = min(check, timed(func() { g.want(found, judgeEvents(g.b, m, models.Options{}, events)) }))
	}
	took, memory := g.child(path, "check", path, "--model", "mutex")
	g.most(name+": dlmtest check FILE", took.wall.Seconds(), 0.4, " s")
	g.note(name+": its processor time, on two goroutines", fmt.Sprintf("%.3g s", took.processor.Seconds()))
	g.most(name+": its memory (resident)", memory, 256, " MB")
	g.most(name+": reading and judging, of scanning", ratio(whole, scan), 2, "")
	g.most(name+": judging alone, of scanning", ratio(check, scan), 0.1, "")
	g.note(name+": scanning, whole, judging", fmt.Sprintf("%.3g, %.3g, %.3g s", scan.Seconds(), whole.Seconds(), check.Seconds()))
}

// run measures a history as a run of dlmtest records it, by both paths.
func (g *goals) run(l load) {
	path := filepath.Join(g.b.TempDir(), "history.jsonl")
	g.write(path, func(add func(history.Op)) { recorded(l, add) })
	name := fmt.Sprintf("as a run records it, %s operations, %d %% unknown, %d violations", power(l.n), l.unknown, l.zombies)
	g.fromFile(name, path, l.zombies)
	scan, whole, judge := time.Hour, time.Hour, time.Hour
	for range rounds {
		scan = min(scan, timed(func() { g.scan(path) }))
		whole = min(whole, timed(func() {
			file, err := os.Open(path)
			if err != nil {
				g.b.Fatal(err)
			}
			defer file.Close()
			setup, ops, err := history.Decode(file)
			if err == nil {
				err = history.Validate(setup, ops)
			}
			if err != nil {
				g.b.Fatal(err)
			}
			judge = min(judge, timed(func() { checker.Judge(setup, ops) }))
		}))
	}
	g.most(name+": all properties, from the file", whole.Seconds(), 0.4, " s")
	g.most(name+": all properties, of scanning", ratio(whole, scan), 2, "")
	g.most(name+": all properties, judging alone, of scanning", ratio(judge, scan), 0.1, "")
}

// stream measures ten million operations, and how time grows up to there.
func (g *goals) stream() {
	each := map[int]float64{}
	for _, n := range []int{1e4, 1e5, 1e6, 1e7} {
		l := load{n: n, clients: 20, unknown: 10}
		path := filepath.Join(g.b.TempDir(), "history.jsonl")
		g.write(path, func(add func(history.Op)) { l.run(func(e models.Event) { add(plain(e)) }) })
		m, _ := models.Named("mutex")
		scan, whole := time.Hour, time.Hour
		for range 3 {
			scan = min(scan, timed(func() { g.scan(path) }))
			whole = min(whole, timed(func() { g.want(0, judgeFile(g.b, m, models.Options{}, path)) }))
		}
		each[n] = float64(whole) / float64(n)
		g.plot[scanLine].add(n, scan)
		g.plot[wholeLine].add(n, whole)
		if n == 1e7 {
			took, memory := g.child(path, "check", "-", "--model", "mutex")
			g.most("10^7 operations from standard input: memory (resident)", memory, 64, " MB")
			g.note("10^7 operations from standard input", fmt.Sprintf("%.3g s, of which %.3g s processor time", took.wall.Seconds(), took.processor.Seconds()))
		}
		_ = os.Remove(path)
	}
	g.most("time of an operation at 10^7, of that at 10^5", each[1e7]/each[1e5], 1.2, "")
}

// porcupine puts the same histories to Porcupine, which has ten seconds.
func (g *goals) porcupine() {
	m, _ := models.Named("mutex")
	for _, n := range []int{1e3, 1e4, 1e5, 1e6} {
		for _, c := range []struct{ unknown, zombies int }{{0, 0}, {1, 0}, {0, 3}, {10, 3}} {
			l := load{n: n, clients: 20, unknown: c.unknown, zombies: c.zombies}
			name := fmt.Sprintf("mutex, %s operations, %d %% unknown, %d violations", power(n), l.unknown, l.zombies)
			g.beside(name, m, models.Options{}, l.all(), c.unknown+c.zombies == 0)
		}
	}
}

func (g *goals) beside(name string, m models.Model, o models.Options, events []models.Event, draw bool) {
	n := len(events) / 2
	var r models.Result
	sweep := measured{time: time.Hour}
	for range rounds {
		s := measure(func() { r = judgeEvents(g.b, m, o, events) })
		sweep.time, sweep.memory = min(sweep.time, s.time), max(sweep.memory, s.memory)
	}
	if draw {
		g.plot[judgeLine].add(n, sweep.time)
	}
	if n > 2e5 {
		return // Porcupine would need over a hundred gigabytes
	}
	ops := models.Ops(m, o, events)[0]
	said := ""
	search := measure(func() { said = models.Consult(m.Name, o, ops, 10*time.Second) })
	want := map[models.Verdict]string{models.Holds: models.Legal, models.Violated: models.Illegal}[r.Verdict]
	switch {
	case said != models.Legal && said != models.Illegal:
		g.note(name+": Porcupine", fmt.Sprintf("gave up after %s", search))
		g.note(name+": the sweep", fmt.Sprintf("%s, %s", r.Verdict, sweep))
		return
	case said != want:
		g.b.Errorf("%s: %s, but Porcupine says %s", name, r.Verdict, said)
	}
	if draw {
		g.plot[porcupineLine].add(n, search.time)
	}
	times := ratio(search.time, sweep.time)
	switch {
	case n > 5e4:
		g.least(name+": times as fast as Porcupine", times, 50, "")
		g.least(name+": Porcupine's memory, of the sweep's or of 1 MB", float64(search.memory)/float64(max(sweep.memory, 1e6)), 50, "")
	case n > 5e3:
		g.least(name+": times as fast as Porcupine", times, 15, "")
	default:
		g.note(name+": times as fast as Porcupine", number(times))
	}
	g.note(name+": sweep, Porcupine", fmt.Sprintf("%s, %s", sweep, search))
}

// hard decides the histories on which Porcupine gives up.
func (g *goals) hard() {
	for _, c := range []struct {
		name, model string
		events      []models.Event
		want        models.Verdict
	}{
		{"invalid with 30 unknown outcomes", "mutex", load{n: 1000, clients: 20, unknown: 6, zombies: 1}.all(), models.Violated},
		{"rising tokens with 20 waiters", "lease", load{n: 1000, clients: 21, tokens: true, lease: 1e6}.all(), models.Holds},
		{"fenced register with 20 clients", "fenced-register", guardedLoad(1000, 20), models.Holds},
		{"lost lease with 3 % unknown", "mutex", load{n: 1000, clients: 20, unknown: 3, zombies: 1, tokens: true}.all(), models.Violated},
	} {
		m, _ := models.Named(c.model)
		least := time.Hour
		for range rounds {
			least = min(least, timed(func() {
				if r := judgeEvents(g.b, m, models.Options{}, c.events); r.Verdict != c.want {
					g.b.Errorf("%s: %s, want %s", c.name, r.Verdict, c.want)
				}
			}))
		}
		g.most("hard set, 1000 operations: "+c.name, float64(least.Microseconds())/1000, 2, " ms")
		g.beside("  "+c.name, m, models.Options{}, c.events, false)
	}
}

// want checks what a measured run has found.
func (g *goals) want(found int, r models.Result) {
	if r.Found < found || found == 0 && r.Verdict != models.Holds || found > 0 && r.Verdict != models.Violated {
		g.b.Errorf("%s, %d found, want %d: %s", r.Verdict, r.Found, found, r.Reason)
	}
}

// spent is time on the clock and on the processors.
type spent struct{ wall, processor time.Duration }

// child runs the program with a history on its standard input and says how long
// it took and how much memory it had at most, in MB.
func (g *goals) child(stdin string, args ...string) (least spent, most float64) {
	least = spent{time.Hour, time.Hour}
	for range 3 {
		file, err := os.Open(stdin)
		if err != nil {
			g.b.Fatal(err)
		}
		cmd := exec.Command(g.program, args...)
		cmd.Stdin = file
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		peak := 0.0
		took := timed(func() {
			if err = cmd.Start(); err == nil {
				stop := watch(cmd.Process.Pid, &peak)
				err = cmd.Wait()
				stop()
			}
		})
		file.Close()
		if code := cmd.ProcessState.ExitCode(); code != 0 && code != 1 {
			g.b.Fatalf("%v: %v\n%s", args, err, &out)
		}
		least.wall, most = min(least.wall, took), max(most, peak)
		least.processor = min(least.processor, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	return least, most
}

// watch follows the peak of a process's resident memory, in MB, until stop: what
// the kernel says at its end is that of its parent, if that was more.
func watch(pid int, peak *float64) (stop func()) {
	over, watched := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		for {
			status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // none once it has ended
			if _, rest, ok := bytes.Cut(status, []byte("VmHWM:")); ok {
				var kB float64
				_, _ = fmt.Sscan(string(rest), &kB)
				*peak = max(*peak, kB/1000)
			}
			select {
			case <-over:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	return func() { close(over); <-watched }
}

// scan is the floor: it reads a file and finds its lines.
func (g *goals) scan(path string) {
	file, err := os.Open(path)
	if err != nil {
		g.b.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		g.b.Fatal(err)
	}
}

func (g *goals) write(path string, each func(func(history.Op))) {
	file, err := os.Create(path)
	if err != nil {
		g.b.Fatal(err)
	}
	defer file.Close()
	setup := history.Setup{Promise: history.Promise{Backend: "none", Token: true, Leased: true}, Keys: []string{"lock"}, Lease: time.Millisecond}
	w, err := history.NewWriter(file, setup)
	if err != nil {
		g.b.Fatal(err)
	}
	each(func(op history.Op) {
		if err == nil {
			err = w.Append(op)
		}
	})
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		g.b.Fatal(err)
	}
}

// plain is an event as a history of somebody else tells it.
func plain(e models.Event) history.Op {
	return history.Op{Index: e.Line - 1, Time: e.Time, Process: e.Process, Type: e.Type, F: history.F(e.F), Key: "lock", Token: e.Token, Lease: e.Lease}
}

// recorded is a load as a run of dlmtest records it: each grant has an owner of its own.
func recorded(l load, add func(history.Op)) {
	calls, owners := map[int]int64{}, map[int]string{}
	l.run(func(e models.Event) {
		op := plain(e)
		op.Node = fmt.Sprintf("client-%d", e.Process%20+1)
		op.Mono, op.Real = op.Time-700, op.Time+1795274489224407201
		if e.Type == history.Invoke {
			calls[e.Process] = e.Time
		}
		if e.F == models.Acquire && e.Type == history.OK {
			owners[e.Process] = fmt.Sprintf("%s/%d/QQEXA3Z635", op.Node, e.Line)
			op.Sent, op.Deadline = calls[e.Process]+1, calls[e.Process]-699+e.Lease
			op.Owner = owners[e.Process]
		}
		if e.F == models.Release {
			op.Owner = owners[e.Process]
		}
		add(op)
	})
}

func open(b *testing.B, path string) *formats.Reader {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	r, err := formats.Open(file, path, formats.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func judgeFile(b *testing.B, m models.Model, o models.Options, path string) models.Result {
	d := m.New(o)
	for e, err := range open(b, path).Events() {
		if err == nil {
			err = d.Add(e)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	return d.End()
}

func judgeEvents(b *testing.B, m models.Model, o models.Options, events []models.Event) models.Result {
	d := m.New(o)
	for _, e := range events {
		if err := d.Add(e); err != nil {
			b.Fatal(err)
		}
	}
	return d.End()
}

func timed(f func()) time.Duration {
	runtime.GC()
	start := time.Now()
	f()
	return time.Since(start)
}

func ratio(a, b time.Duration) float64 { return float64(a) / float64(b) }

func power(n int) string { return fmt.Sprintf("10^%.0f", math.Log10(float64(n))) }

// measured is a time and the most memory that was in use meanwhile, beyond what was before.
type measured struct {
	time   time.Duration
	memory uint64
}

func (m measured) String() string {
	return fmt.Sprintf("%s and %.1f MB", m.time.Round(10*time.Microsecond), float64(m.memory)/1e6)
}

func measure(f func()) measured {
	runtime.GC()
	before := inUse()
	var most atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			most.Store(max(most.Load(), inUse()))
			select {
			case <-stop:
				return
			case <-time.After(500 * time.Microsecond):
			}
		}
	}()
	start := time.Now()
	f()
	m := measured{time: time.Since(start)}
	close(stop)
	<-stopped
	if now := max(most.Load(), inUse()); now > before {
		m.memory = now - before
	}
	return m
}

// inUse is what the heap's objects take, dead ones too until they are swept.
func inUse() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}
