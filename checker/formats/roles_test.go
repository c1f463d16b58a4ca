package formats

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// steps writes events of Jepsen: each is PROCESS TYPE F VALUE.
func steps(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		part := strings.SplitN(line, " ", 4)
		fmt.Fprintf(&b, "{:process %s, :type :%s, :f :%s, :value %s}\n", part[0], part[1], part[2], part[3])
	}
	return b.String()
}

// TestLockNames: which lock an operation is of, where its value tells it, and where
// several readings are possible, which.
func TestLockNames(t *testing.T) {
	for _, c := range []struct {
		name, text string
		keys       string   // of the events
		choices    []string // if it is refused
	}{
		{"names beside grants that do not repeat them", steps(`0 invoke acquire "A"`, `0 ok acquire {:owner "a" :token 1}`, `1 invoke acquire "B"`, `1 ok acquire {:owner "b" :token 2}`, `0 invoke release "A"`, `0 ok release {:owner "a"}`), "A A B B A A", nil},
		{"ids that grants repeat", steps(`0 invoke acquire "u"`, `0 ok acquire {:client "a" :uid "u"}`, `1 invoke acquire "v"`, `1 ok acquire {:client "b" :uid "v"}`), "- - - -", nil},
		{"never one twice", steps(`0 invoke acquire "u"`, `0 ok acquire {:client "a"}`, `1 invoke acquire "v"`, `1 ok acquire {:client "b"}`), "", []string{"key", "answer"}},
		{"owners in tuples with keys", steps(`0 invoke acquire ["A" "a"]`, `0 ok acquire ["A" "a"]`, `1 invoke acquire ["B" "b"]`, `1 ok acquire ["B" "b"]`), "", []string{"owner", "answer"}},
		{"tokens of grants, told again", steps(`0 invoke acquire nil`, `0 ok acquire 5`, `0 invoke release 5`, `0 ok release 5`, `1 invoke acquire nil`, `1 ok acquire 6`, `1 invoke release 6`, `1 ok release 6`), "", []string{"owner", "token", "answer"}},
		{"acquires of which one names nothing", steps(`0 invoke acquire nil`, `0 ok acquire nil`, `1 invoke acquire "A"`, `1 ok acquire "A"`, `2 invoke acquire "B"`, `2 ok acquire "B"`), "", []string{"key", "owner"}},
		{"a key in the map", steps(`0 invoke acquire {:key "A"}`, `0 ok acquire {:key "A" :owner "a"}`, `1 invoke acquire {:resource "B"}`, `1 ok acquire {:owner "b"}`), "A A B B", nil},
		{"one name in the answers", steps(`0 invoke acquire nil`, `0 ok acquire {:key "A" :owner "a"}`), "- -", nil},
		{"names in the answers alone", steps(`0 invoke acquire nil`, `0 ok acquire {:key "A" :owner "a"}`, `1 invoke acquire nil`, `1 ok acquire {:key "B" :owner "b"}`), "- - -", ValueRoles},
		{"tokens beside owners", `{:process 0 :type :invoke :f :acquire :owner "a"}{:process 0 :type :ok :f :acquire :value 1}{:process 1 :type :invoke :f :acquire :owner "b"}{:process 1 :type :ok :f :acquire :value 2}`, "", []string{"token", "answer"}},
	} {
		_, _, events, err := drain(strings.NewReader(c.text), Options{})
		var several *Ambiguous
		if errors.As(err, &several) != (c.choices != nil) || err != nil && (several == nil || !slices.Equal(several.Choices, c.choices)) {
			t.Errorf("%s: %v", c.name, err)
		}
		var keys []string
		for _, e := range events {
			key := e.Key
			if key == "" {
				key = "-"
			}
			keys = append(keys, key)
		}
		if got := strings.Join(keys, " "); got != c.keys {
			t.Errorf("%s: keys %q, want %q", c.name, got, c.keys)
		}
	}
}

// TestNoFence: older Hazelcast writes -1 where there is no fence, also for what was given back.
func TestNoFence(t *testing.T) {
	_, _, events, err := drain(strings.NewReader(steps(`0 invoke acquire "u"`, `0 ok acquire {:client "a" :fence 4 :uid "u"}`, `0 invoke release "v"`, `0 ok release {:client "a" :fence -1 :uid "v"}`)), Options{})
	if err != nil || events[1].Token != 4 || events[3].Token != 0 {
		t.Errorf("%v %v", events, err)
	}
}

// TestPacked: a file may be packed by gzip, and begin with the mark of UTF-8.
func TestPacked(t *testing.T) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	fmt.Fprint(w, "\xef\xbb\xbf"+steps(`0 invoke acquire nil`, `0 ok acquire nil`))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, events, err := drain(bytes.NewReader(b.Bytes()), Options{}); err != nil || len(events) != 2 {
		t.Errorf("%v %v", events, err)
	}
	if _, _, events, err := drain(bytes.NewReader(b.Bytes()[:b.Len()-8]), Options{}); err == nil {
		t.Errorf("cut off: %v", events)
	}
}
