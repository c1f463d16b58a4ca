package formats

import (
	"fmt"
	"strings"
	"testing"
)

// Beside [key value] tuples a call without a value is for the key that its end names, in its own place; one of which
// neither says so, and that had no effect, is left out.
func TestKeyless(t *testing.T) {
	const (
		tuple   = "{:process 9 :type :invoke :f :acquire :value [k nil]}{:process 9 :type :ok :f :acquire :value [k nil] :owner \"a\"}"
		call    = "{:process 1 :type :invoke :f :%s}"
		between = "{:process 2 :type :invoke :f :acquire :value [k nil]}{:process 2 :type :fail :f :acquire :value [k nil]}"
	)
	for _, c := range []struct{ name, f, end, want string }{
		{"its end names it", "acquire", "{:process 1 :type :ok :f :acquire :value [k nil] :owner \"b\"}",
			"1 invoke acquire k , 2 invoke acquire k , 2 fail acquire k , 1 ok acquire k b"},
		{"and its owner", "release", "{:process 1 :type :ok :f :release :value [k nil] :owner \"b\"}",
			"1 invoke release k b, 2 invoke acquire k , 2 fail acquire k , 1 ok release k b"},
		{"it failed", "acquire", "{:process 1 :type :fail :f :acquire}", "2 invoke acquire k , 2 fail acquire k "},
		{"it failed, with a reason", "acquire", "{:process 1 :type :fail :f :acquire :value :timeout}", "2 invoke acquire k , 2 fail acquire k "},
	} {
		var got []string
		_, _, events, err := drain(strings.NewReader(fmt.Sprintf(tuple+call, c.f)+between+c.end), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, e := range events[2:] {
			got = append(got, fmt.Sprintf("%d %s %s %s %s", e.Process, e.Type, e.F, e.Key, e.Owner))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, strings.Join(got, ", "), c.want)
		}
	}
}

// A read that names no key, first in its file, is one of the key that it answers, or none at all.
func TestKeylessReadComesFirst(t *testing.T) {
	const rest = "{:process 1 :type :invoke :f :write :value [0 3]}{:process 1 :type :ok :f :write :value [0 3]}"
	for end, want := range map[string]int{
		"{:process 0 :type :ok :f :read :value [0 nil]}": 4, "{:process 0 :type :fail :f :read}": 2, "{:process 0 :type :info :f :read}": 2, "": 2,
	} {
		_, _, events, err := drain(strings.NewReader("{:process 0 :type :invoke :f :read :value nil}"+rest+end), Options{})
		if err != nil || len(events) != want {
			t.Errorf("%q: %d events, %v; want %d", end, len(events), err, want)
		}
		for _, e := range events {
			if e.Key != "0" {
				t.Errorf("%q: %+v", end, e)
			}
		}
	}
}
