package clusters

import (
	"os/exec"
	"testing"

	"github.com/dlmtest/dlmtest/internal/eventually"
)

func TestOwnerLife(t *testing.T) {
	me, err := ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	ended := Owner{Boot: me.Boot, PID: zombie(t), Start: 1, Space: me.Space}
	ended.Start, _, _ = processStart(ended.PID)
	change := func(f func(*Owner)) Owner { o := me; f(&o); return o }
	for name, c := range map[string]struct {
		owner Owner
		local bool
		want  life
	}{
		"myself":            {me, true, alive},
		"zombie":            {ended, true, dead},
		"pid used again":    {change(func(o *Owner) { o.Start-- }), true, dead},
		"no such pid":       {change(func(o *Owner) { o.PID = 1 << 30 }), true, dead},
		"earlier boot":      {change(func(o *Owner) { o.Boot = "x" }), true, dead},
		"another machine":   {change(func(o *Owner) { o.Boot = "x" }), false, unknown},
		"another pid space": {change(func(o *Owner) { o.Space = "1" }), true, unknown},
	} {
		if got := c.owner.life(c.local); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

// zombie starts a process that has ended and is not yet waited for.
func zombie(t *testing.T) int {
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() })
	eventually.True(t, "a zombie", func() bool {
		_, state, err := processStart(cmd.Process.Pid)
		return err == nil && state == 'Z'
	})
	return cmd.Process.Pid
}

func TestParseOwner(t *testing.T) {
	me, err := ThisProcess()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ParseOwner(me.String()); err != nil || got != me {
		t.Errorf("%v, %v, want %v", got, err, me)
	}
	if got, err := ParseOwner("boot/12/34"); err != nil || got != (Owner{Boot: "boot", PID: 12, Start: 34}) {
		t.Errorf("without a pid space: %v, %v", got, err)
	}
	for _, bad := range []string{"", "a/b", "a/b/c", "a/1/c"} {
		if _, err := ParseOwner(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}
