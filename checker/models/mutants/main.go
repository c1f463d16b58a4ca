// Command mutants plants mistakes in packages, one at a time, and runs their
// tests on each: a mistake that no test notices is a hole in the tests. All
// mistakes of a package are compiled into one test binary, as func literals of
// which an environment variable chooses one, so that a mistake costs no build. A
// first run of every test notes which mistakes it comes by, and a mistake is tried
// on those alone, the quickest first. What has been found out is kept in a file, and
// a second call goes on from there: what was noticed stays noticed until its file
// changes, what was not is tried again when anything in the package does. A package whose
// tests are those of another is named with it: ./history/trace=./checker.
//
//	go run ./checker/models/mutants [-results build/mutants.json] [-only models/front.go,…] [-sample 200] ./checker/models ./history/trace=./checker ./checker
package main

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// options are what the command line says.
type options struct {
	only    []string
	sample  int
	limit   time.Duration
	results string
	skip    string
}

func main() {
	o := options{}
	only := flag.String("only", "", "plant in these files only (models/front.go), separated by commas")
	flag.IntVar(&o.sample, "sample", 0, "try only so many of each package, drawn by chance; 0: all")
	flag.DurationVar(&o.limit, "limit", 2*time.Minute,
		"a test that takes longer has noticed the mistake: it hangs; one that usually takes little time is given less")
	flag.StringVar(&o.skip, "skip", "^TestNearLinear$", "do not ask the tests of these names: one that measures times fails beside so many others")
	flag.StringVar(&o.results, "results", "", "file in which results are kept from one call to the next")
	flag.Parse()
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	if flag.NArg() == 0 {
		fmt.Fprintln(os.Stderr, "mutants: name the folders of the packages, such as ./checker/models")
		os.Exit(64)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options, dirs []string) error {
	known, err := load(o.results)
	if err != nil {
		return err
	}
	left := 0
	for _, dir := range dirs {
		survived, err := o.inPackage(ctx, dir, known)
		if err != nil {
			return err
		}
		left += survived
	}
	if left > 0 {
		return fmt.Errorf("%d mistakes go unnoticed", left)
	}
	return nil
}

// inPackage tries what is planted in one package and says how many go unnoticed.
func (o options) inPackage(ctx context.Context, of string, known *results) (int, error) {
	dir, tests, other := strings.Cut(of, "=")
	if !other {
		tests = dir
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(scratch)
	planted, overlay, err := plant(dir, scratch)
	if err != nil {
		return 0, err
	}
	if len(o.only) > 0 {
		planted = slices.DeleteFunc(planted, func(m mistake) bool { return !slices.Contains(o.only, m.file()) })
	}
	if all := len(planted); o.sample > 0 && o.sample < all {
		rand.New(rand.NewPCG(1, 2)).Shuffle(all, func(i, j int) { planted[i], planted[j] = planted[j], planted[i] })
		planted = planted[:o.sample]
		fmt.Printf("%s: a sample of %d of %d\n", dir, o.sample, all)
	}
	sources, err := hashAll(dir, tests)
	if err != nil {
		return 0, err
	}
	var s *suite
	for _, count := range []string{few, many} {
		open := slices.DeleteFunc(slices.Clone(planted), func(m mistake) bool {
			return known.settled(m, sources, count)
		})
		if len(open) > 0 && s == nil {
			if s, err = newSuite(ctx, tests, overlay, filepath.Join(scratch, "tests"), o); err != nil {
				return 0, err
			}
		}
		s.hunt(ctx, open, count, known, sources)
	}
	if err := known.save(); err != nil {
		return 0, err
	}
	if ctx.Err() != nil {
		return 0, fmt.Errorf("interrupted; call it again to go on (results are in %s)", o.results)
	}
	if s != nil {
		if err := s.unchanged(ctx); err != nil {
			return 0, fmt.Errorf("%w\nremove %s and begin anew", err, o.results)
		}
	}
	return sum(dir, planted, known), nil
}

// hunt tries mistakes, as many at a time as there are processors.
func (s *suite) hunt(ctx context.Context, open []mistake, count string, known *results, sources string) {
	var all sync.WaitGroup
	var done atomic.Int64
	next := make(chan mistake)
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for m := range next {
				r := s.try(ctx, m, count)
				if ctx.Err() != nil {
					continue // cut short: it says nothing
				}
				r.Hash, r.Sources = m.hash, sources
				if _, same := excused(m); r.Verdict != killed && !same {
					fmt.Fprintf(os.Stderr, "%s %s: %s: %s\n", r.Verdict, r.Tried, m.at, m.what)
				}
				if err := known.add(m, r); err != nil {
					fmt.Fprintln(os.Stderr, "mutants:", err)
				}
				if n := done.Add(1); n%50 == 0 {
					fmt.Fprintf(os.Stderr, "%s: %d of %d\n", s.dir, n, len(open))
				}
			}
		})
	}
	for _, m := range open {
		if ctx.Err() != nil {
			break
		}
		next <- m
	}
	close(next)
	all.Wait()
}

// sum prints killed of planted and returns how many go unnoticed.
func sum(dir string, planted []mistake, known *results) (unnoticed int) {
	noticed, hung, same := 0, 0, 0
	for _, m := range planted {
		r := known.of(m)
		_, excused := excused(m)
		switch {
		case r.Verdict == killed:
			noticed++
			if r.Hung {
				hung++
			}
		case excused:
			same++
		default:
			unnoticed++
			fmt.Printf("%s: %s: %s\n", strings.ToUpper(r.Verdict), m.at, m.what)
		}
	}
	fmt.Printf("%s: killed %d of %d planted (%d by hanging), %d change nothing, %d survived\n", dir, noticed, len(planted), hung, same, unnoticed)
	return unnoticed
}
