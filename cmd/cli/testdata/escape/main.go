// Command escape is an adapter that tries to get out of its node, and then behaves: it is
// what the tests of the sandbox run as code under test. Each way out is tried in a process
// of its own, and told in a line on stderr, which is the log of the node:
//
//	escape: {"probe":"chroot","escaped":false,"how":"operation not permitted"}
//
// After "escape: done" it serves a plain Redis lock, so that the run ends with a verdict.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/locks/protocol/adapter"
)

// What the test has laid out on the machine, for the probes to reach.
var (
	secrets  = flag.String("secrets", "", "files of the machine that nobody else may read, with commas between")
	sights   = flag.String("sights", "", "files and folders that must not even be in view")
	hosts    = flag.String("hosts", "", "host:port on which the machine listens")
	port     = flag.Int("port", 0, "a port on which the machine listens on all its addresses")
	abstract = flag.String("abstract", "", "name of an abstract socket of the machine")
	sockets  = flag.String("sockets", "", "sockets of the machine")
	victim   = flag.Int("victim", 0, "a process of the machine")
	mark     = flag.String("mark", "", "a word that is in all that is forged")
	bomb     = flag.String("bomb", "", "processes, memory and disk, with commas between: blow up instead of trying ways out")
	setuid   = flag.String("setuid", "", "a copy of this program that belongs to root and has the setuid bit")
)

// Found is what one probe has found.
type Found struct {
	Probe   string `json:"probe"`
	Escaped bool   `json:"escaped"`
	How     string `json:"how"`
}

// A probe tries one way out. Without an error it got out, and says how far.
type probe struct {
	name string
	do   func() (reached string, err error)
}

var probes = join(mountProbes, processProbes, fileProbes, networkProbes, systemProbes, kernelProbes)

func join(lists ...[]probe) (all []probe) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == "list" { // for the test: what must be reported
		for _, p := range probes {
			fmt.Println(p.name)
		}
		return
	}
	if len(os.Args) == 2 && os.Args[1] == "whoami" { // started by a probe, with the setuid bit
		fmt.Println(os.Getuid(), os.Geteuid())
		return
	}
	flag.Parse()
	if name, single := strings.CutPrefix(flag.Arg(0), "probe:"); single {
		single1(name)
		return
	}
	mine, worker = os.Getpid(), os.Getppid()
	inherited = inheritedFiles()
	if *bomb == "" {
		tryAll()
	}
	adapter.Main(redisLock())
}

// rough probes would leave the node without what the others need.
var rough = map[string]bool{"unmount": true, "pivot-root": true}

// tryAll runs every probe in a process of its own, eight at a time, and the rough ones last.
func tryAll() {
	var all sync.WaitGroup
	slots := make(chan bool, 8)
	var last []probe
	for _, p := range probes {
		if rough[p.name] {
			last = append(last, p)
			continue
		}
		all.Add(1)
		slots <- true
		go func() {
			defer all.Done()
			tell(try(p))
			<-slots
		}()
	}
	all.Wait()
	for _, p := range last {
		tell(try(p))
	}
	fmt.Fprintln(os.Stderr, "escape: done")
}

func tell(f Found) {
	text, _ := json.Marshal(f) // strings and a bool
	fmt.Fprintf(os.Stderr, "escape: %s\n", text)
}

// try starts a probe. One that was killed on its way was refused, too.
func try(p probe) Found {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe", append(os.Args[1:len(os.Args):len(os.Args)], "probe:"+p.name)...)
	cmd.Env = append(os.Environ(), "ESCAPE_WORKER="+strconv.Itoa(worker), "ESCAPE_MINE="+strconv.Itoa(mine), "ESCAPE_FILES="+inherited)
	cmd.WaitDelay = time.Second
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	var f Found
	if json.Unmarshal(out.Bytes(), &f) == nil && f.Probe == p.name {
		return f
	}
	return Found{Probe: p.name, How: fmt.Sprintf("ended: %v %.200s", err, said.String())}
}

// single1 is a probe's own process.
func single1(name string) {
	worker, _ = strconv.Atoi(os.Getenv("ESCAPE_WORKER"))
	mine, _ = strconv.Atoi(os.Getenv("ESCAPE_MINE"))
	inherited = os.Getenv("ESCAPE_FILES")
	for _, p := range probes {
		if p.name != name {
			continue
		}
		f := Found{Probe: name}
		reached, err := p.do()
		f.Escaped, f.How = err == nil, reached
		if err != nil {
			f.How = err.Error()
		}
		_ = json.NewEncoder(os.Stdout).Encode(f)
	}
}

// any tries one thing on many, and is content with one.
func any(what []string, do func(string) error) (reached string, err error) {
	var refused []string
	for _, w := range what {
		if w == "" {
			continue
		}
		err := do(w)
		if err == nil {
			return w, nil
		}
		refused = append(refused, fmt.Sprintf("%s: %v", w, err))
	}
	if len(refused) == 0 {
		return "", fmt.Errorf("nothing to try it on")
	}
	return "", fmt.Errorf("%.600s", strings.Join(refused, "; "))
}
