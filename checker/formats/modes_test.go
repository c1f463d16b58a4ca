package formats

import (
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/checker/models"
)

// TestModes: read-write locks whose suites have one word for readers and writers, each with the verdict that was derived by hand.
func TestModes(t *testing.T) {
	two := func(f0, beside0, f1, beside1 string) string {
		return of("0", "invoke", f0, beside0) + of("0", "ok", f0, beside0) + of("1", "invoke", f1, beside1) + of("1", "ok", f1, beside1)
	}
	gives := func(process, f, beside string) string {
		return of(process, "invoke", f, beside) + of(process, "ok", f, beside)
	}
	for _, c := range []struct {
		name, text string
		want       models.Verdict
	}{
		{"readers by a field", two("acquire", ":mode :shared", "acquire", `:mode "read"`), models.Holds},
		{"a writer beside a reader", two("acquire", ":mode :shared", "acquire", ":mode :exclusive"), models.Violated},
		{"readers by a truth value", two("lock", ":shared true", "lock", ":exclusive false"), models.Holds},
		{"a writer by one", two("lock", ":shared true", "lock", ":shared false"), models.Violated},
		{"readers in a map", two("lock", ":value {:mode :read}", "lock", ":value {:mode :read}"), models.Holds},
		{"readers by the value", two("acquire", ":value :read", "acquire", ":value :read"), models.Holds},
		{"a writer by the value", two("acquire", ":value :read", "acquire", ":value :write"), models.Violated},
		{"the call alone tells the mode", of("0", "invoke", "lock", ":mode :read") + of("0", "ok", "lock", "") + of("1", "invoke", "lock", ":mode :read") + of("1", "ok", "lock", ""), models.Holds},
		{"one word for a release", two("read-lock", "", "read-lock", "") + gives("0", "unlock", "") + gives("1", "unlock", "") + gives("2", "write-lock", "") + gives("2", "unlock", ""), models.Holds},
		{"one reader is left", two("read-lock", "", "read-lock", "") + gives("0", "unlock", "") + gives("2", "write-lock", ""), models.Violated},
		{"a writer's release of a reader", gives("0", "read-lock", "") + gives("0", "write-unlock", ""), models.Violated},
		{"a word for readers beside it", gives("0", "read-lock", "") + gives("0", "unlock", "") + gives("1", "read-lock", "") + gives("1", "read-unlock", ""), models.Violated},
		{"a release of nothing", gives("0", "read-lock", "") + gives("0", "unlock", "") + gives("0", "unlock", ""), models.Violated},
		{"a client gives back by another process", gives("0", "read-lock", `:owner "a"`) + gives("1", "unlock", `:owner "a"`) + gives("2", "write-lock", `:owner "b"`), models.Holds},
		{"a mode that is none", two("acquire", ":mode :sync", "acquire", ":mode :sync"), models.Violated},
	} {
		_, _, events, err := drain(strings.NewReader(c.text), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, why := judge("rwlock", events); got != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, got, c.want, why)
		}
	}
}

// TestReadings: what names that are not known may stand for.
func TestReadings(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       string
	}{
		{"a lock", granted(`:lock-id "x"`, "", `:lock-id "y"`, ""), "lock-id=key lock-id=owner"},
		{"the same lock", granted(`:lock-id "x"`, "", `:lock-id "x"`, ""), ""},
		{"where a process runs", granted(`:region "x"`, "", `:region "y"`, ""), "region=owner"},
		{"the name of a thread", granted(`:thread-name "x"`, "", `:thread-name "y"`, ""), "thread-name=owner"},
		{"a name that is known for a place", granted(`:node "x"`, "", `:node "y"`, ""), ""},
		{"an answer", granted("", ":status :acquired", "", ":status :timed-out"), "status=answer status=owner"},
		{"a no that is no answer", granted("", ":leader true", "", ":leader false"), "leader=owner"},
		{"one that is no refusal", granted("", ":latency 3", "", ":latency 4"), "latency=owner"},
		{"a token", granted("", ":value {:epoch 3}", "", ":value {:epoch 4}"), "epoch=token epoch=owner"},
		{"beside a token", granted("", ":value {:epoch 3 :token 1}", "", ":value {:epoch 4 :token 2}"), "epoch=owner"},
		{"what a user has named", granted(`:lock-id "x"`, "", `:lock-id "y"`, ""), "-"},
	} {
		o := Options{}
		if c.want == "-" {
			o.Fields, c.want = map[string]string{"lock-id": "-"}, ""
		}
		r, err := Open(strings.NewReader(c.text), "file", o)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := strings.Join(slices.Concat(r.Readings()...), " "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
