package story

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/reports/sample"
)

func tell(steps []Step) []byte {
	var b bytes.Buffer
	for n, s := range steps {
		fmt.Fprintf(&b, "%d %s %s@%s [%s %d] %s\n", n+1, s.At, s.Who, s.Node, s.Kind, s.Op, s.What)
	}
	return b.Bytes()
}

// The violations are those that the judge found in these histories.
func TestStoriesOfRealRuns(t *testing.T) {
	for _, c := range []struct {
		run, of string
		v       checker.Violation
		want    []string
	}{
		{"gc-pause-read-redis", "exclusion", checker.Violation{Key: "key-1", Operations: []int{6, 16, 24}, At: 6136570770819},
			[]string{"holds client-5 between its read and its write", "is a zombie", "No higher token", "lost in both copies, in spite of fencing"}},
		{"gc-pause-read-redis", "lost", checker.Violation{Key: "key-1", Operations: []int{25, 26, 31}, At: 6136574141273},
			[]string{"its write of client-1/w1 arrives", "writes client-5/w1", "client-1/w1 of client-1 is lost"}},
		{"gc-pause-postgres", "availability", checker.Violation{Key: "key-1", Operations: []int{5, 14, 16}, At: 6148696460635},
			[]string{"this lock has no lease", "client-1 and client-3 to client-5 wait", "not granted in time", "the first grant in 8.04 s"}},
		{"orphan-go-zookeeper", "waiting", checker.Violation{Key: "key-1", Operations: []int{27, 32}, At: 1851694528765},
			[]string{"The link of client-2 is cut", "client-2@client-2 [other 12] is not told", "may still stand at the service", "client-1 to client-3 wait", "with nothing at fault"}},
		{"partition-majority-redlock", "availability", checker.Violation{Key: "key-1", Operations: []int{8, 12, 65}, At: 6340900763474},
			[]string{"redlock-3 to redlock-5 are cut off from client-1 to client-5, redlock-1, redlock-2 and resource. Seen at all 11 nodes.", "The partition ends"}},
	} {
		setup, ops := sample.Recorded(t, c.run)
		steps := Of(setup, ops, c.v)
		got := tell(steps)
		sample.Same(t, "story-"+c.run+"-"+c.of+".txt", got)
		for _, want := range c.want {
			if !bytes.Contains(got, []byte(want)) {
				t.Errorf("%s, %s: no step says %q", c.run, c.of, want)
			}
		}
		if bytes.Contains(got, []byte("SQLSTATE")) {
			t.Errorf("%s, %s: a driver's jargon is in the story", c.run, c.of)
		}
		if !slices.IsSortedFunc(steps, func(a, b Step) int { return int(a.At - b.At) }) {
			t.Errorf("%s, %s: the steps are out of order", c.run, c.of)
		}
	}
}
