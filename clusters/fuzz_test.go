package clusters

import (
	"context"
	"strings"
	"testing"
)

// Whatever a label says, it is an error or an owner that reads back as itself, and
// nothing but a process of this machine can be alive.
func FuzzParseOwner(f *testing.F) {
	me, err := ThisProcess()
	if err != nil {
		f.Fatal(err)
	}
	for _, label := range []string{me.String(), "", "a/1/2", "///", "a/-1/2/x", "a/99999999999999999999/1", "a/1/18446744073709551616", "a/1/2/3/4", "a/0x1/2", "\x00/1/1"} {
		f.Add(label)
	}
	f.Fuzz(func(t *testing.T, label string) {
		o, err := ParseOwner(label)
		if err != nil {
			return
		}
		if again, err := ParseOwner(o.String()); err != nil || again != o {
			t.Errorf("%q is %+v and then %+v, %v", label, o, again, err)
		}
		if o != me && o.life(true) == alive && (o.Boot != me.Boot || o.PID <= 0) {
			t.Errorf("%q is alive", label)
		}
	})
}

// Whatever a compose file says, it is an error or nodes with names and images.
func FuzzLoad(f *testing.F) {
	f.Add(string(Compose), "redis")
	for _, text := range []string{
		"services: {redis-1: {image: a, command: [x], healthcheck: {test: [CMD, y]}, labels: {dlmtest.leases: 1s 2s}}}",
		"services: {a: {image: b, ports: ['1:2'], expose: ['3'], volumes: ['/a:/b'], tmpfs: /t, environment: {A: null}}}",
		"services:\n  a: &x {image: b}\n  b: *x\n", "services: {a: {image: b, extends: a}}", "services: {a: null}", "services: []", "a: &a [*a]", "services: {a: {image: ${X:?y}}}", "include: [x]", "\x00",
	} {
		f.Add(text, "")
	}
	f.Fuzz(func(t *testing.T, text, profile string) {
		if strings.Contains(text, "/") && !strings.Contains(text, "redis-server") {
			t.Skip() // it may name a file of this machine
		}
		p, err := Load(context.Background(), []byte(text), profile)
		if err != nil {
			return
		}
		if len(p.Nodes) == 0 {
			t.Errorf("no nodes: %+v", p)
		}
		for _, n := range p.Nodes {
			if n.Name == "" || n.Image == "" || n.MinLease > n.MaxLease {
				t.Errorf("%+v", n)
			}
		}
	})
}
