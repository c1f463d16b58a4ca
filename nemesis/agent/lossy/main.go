package lossy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Command is one line to the process. Each is answered by an Event with Re set
// to its ID.
type Command struct {
	ID    int    `json:"id"`
	Do    Do     `json:"do"`
	Mode  Mode   `json:"mode,omitempty"`  // Crash; empty: the flag's
	Stall *Stall `json:"stall,omitempty"` // StallNow; nil: every fsync until Resume. For is in ns
}

// Do names what a command asks for.
type Do string

// The commands. After Crash and Close the process goes on, and Serve mounts again.
const (
	ServeAgain Do = "serve"
	CrashNow   Do = "crash"
	SyncNow    Do = "sync"
	StallNow   Do = "stall"
	ResumeNow  Do = "resume"
	CloseNow   Do = "close"
)

// Event is one line from the process.
type Event struct {
	Re    int    `json:"re,omitempty"`
	Error string `json:"error,omitempty"`

	Ready   bool     `json:"ready,omitempty"`   // mounted, with the first line and after Serve
	Loss    *Loss    `json:"loss,omitempty"`    // answers Crash
	Stalled *Stalled `json:"stalled,omitempty"` // answers Resume
	Held    *Held    `json:"held,omitempty"`    // not an answer: a call that was held goes on
}

// process is what Main keeps.
type process struct {
	opts      Options
	fs        atomic.Pointer[FS]
	crashes   uint64
	listeners int        // a descriptor; 0: none
	busy      sync.Mutex // held by a command

	mu  sync.Mutex
	out *json.Encoder
}

// Main is the process that serves one file system. It mounts, says so in its
// first line, and does what the lines of in say. At EOF and at SIGTERM it unmounts
// and loses nothing. args are flags: --backing DIR --mount DIR [--mode M] [--seed N]
// [--strict] [--listeners FD] [--allow-other=false].
//
// It is a process of its own because one that starts programs on a mount it
// serves can deadlock. It must outlive the server that uses the mount.
func Main(in io.Reader, out io.Writer, args ...string) error {
	p := &process{out: json.NewEncoder(out)}
	if err := p.flags(args); err != nil {
		return err
	}
	// A process that a signal ends leaves a dead mount, on which every call fails.
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	defer signal.Stop(stop)
	unix.Umask(0) // modes come from the callers, whose umask the kernel has applied
	if err := p.serve(); err != nil {
		p.send(Event{Error: err.Error()})
		return err
	}
	if p.listeners > 0 {
		if err := p.notices(p.listeners); err != nil {
			p.send(Event{Error: err.Error()})
			return errors.Join(err, p.fs.Load().Close())
		}
	}
	p.send(Event{Ready: true})
	ended := make(chan error, 1)
	go func() { ended <- p.obey(in) }()
	var err error
	select {
	case err = <-ended:
	case <-stop:
	}
	p.busy.Lock() // a command under way comes to its end
	defer p.busy.Unlock()
	return errors.Join(err, p.fs.Load().Close())
}

func (p *process) flags(args []string) error {
	f := flag.NewFlagSet("fs", flag.ContinueOnError)
	f.SetOutput(io.Discard) // the error says it
	f.StringVar(&p.opts.Backing, "backing", "", "folder with the data")
	f.StringVar(&p.opts.Mount, "mount", "", "where servers see it; may be the backing folder")
	f.StringVar((*string)(&p.opts.Mode), "mode", string(LoseUnsynced), "of a crash that names none")
	f.Uint64Var(&p.opts.Seed, "seed", 0, "of torn crashes")
	f.BoolVar(&p.opts.Strict, "strict", false, "a new file's entry needs an fsync of its folder")
	f.IntVar(&p.listeners, "listeners", 0, "descriptor of a socket that brings listeners of sync and syncfs; see notice")
	f.BoolVar(&p.opts.AllowOther, "allow-other", true, "other users may use it")
	if err := f.Parse(args); err != nil {
		return fmt.Errorf("lossy: %w", err)
	}
	if p.opts.Backing == "" || p.opts.Mount == "" || f.NArg() > 0 {
		return errors.New("lossy: want --backing DIR and --mount DIR, and nothing else but flags")
	}
	p.opts.Held = func(h Held) { p.send(Event{Held: &h}) }
	return nil
}

// serve mounts. Each mount has a seed of its own, or every torn crash of a run
// would tear at the same place.
func (p *process) serve() error {
	o := p.opts
	o.Seed += p.crashes
	fs, err := Serve(context.Background(), o)
	if err == nil {
		p.fs.Store(fs)
	}
	return err
}

func (p *process) obey(in io.Reader) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var c Command
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			p.send(Event{Error: fmt.Sprintf("lossy: command %q: %v", lines.Text(), err)})
			continue
		}
		e, err := p.do(c)
		if e.Re = c.ID; err != nil {
			e.Error = err.Error()
		}
		p.send(e)
	}
	return lines.Err()
}

func (p *process) do(c Command) (Event, error) {
	p.busy.Lock()
	defer p.busy.Unlock()
	fs := p.fs.Load()
	switch c.Do {
	case ServeAgain:
		if !await(fs.Done(), time.Millisecond) {
			return Event{}, errors.New("lossy: it is mounted: crash or close it first")
		}
		err := p.serve()
		return Event{Ready: err == nil}, err
	case CrashNow:
		loss, err := fs.Crash(c.Mode)
		p.crashes++
		return Event{Loss: &loss}, err
	case SyncNow:
		return Event{}, fs.Sync()
	case StallNow:
		if c.Stall == nil {
			c.Stall = &Stall{}
		}
		return Event{}, fs.Stall(*c.Stall)
	case ResumeNow:
		s := fs.Resume()
		return Event{Stalled: &s}, nil
	case CloseNow:
		return Event{}, fs.Close()
	}
	return Event{}, fmt.Errorf("lossy: unknown command %q", c.Do)
}

func (p *process) send(e Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = p.out.Encode(e) // whoever does not read has ended, and we see EOF
}
