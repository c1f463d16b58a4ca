package models

import "testing"

// TestHeirs: what a client may give back that goes on as another process is not known to be wrong.
func TestHeirs(t *testing.T) {
	const crashed = "0 acquire\n0 info acquire\n"
	for _, c := range []struct {
		name, model, script string
		want                Verdict
	}{
		{"it goes on and gives back", "mutex", crashed + "5 release\n5 ok release\n1 acquire\n1 ok acquire", Unknown},
		{"its release was lost", "mutex", "0 acquire\n0 ok acquire\n0 release\n0 info release\n5 release\n5 ok release", Unknown},
		{"it may have given back", "mutex", "0 acquire\n0 ok acquire\n0 acquire\n0 info acquire\n5 release\n5 info release\n1 acquire\n1 ok acquire", Unknown},
		{"that was refused", "mutex", "0 acquire\n0 ok acquire\n0 acquire\n0 info acquire\n5 release\n5 fail release\n1 acquire\n1 ok acquire", Violated},
		{"what was wrong before", "mutex", "3 acquire\n3 ok acquire\n4 acquire\n4 ok acquire\n" + crashed + "5 release\n5 ok release", Violated},
		{"nobody crashed", "mutex", "0 acquire\n0 ok acquire\n5 release\n5 ok release", Violated},
		{"who was there before the crash", "mutex", "5 acquire\n5 fail acquire\n" + crashed + "5 release\n5 ok release", Violated},
		{"who was granted it itself", "mutex", crashed + "5 acquire\n5 ok acquire\n5 release\n5 ok release\n5 release\n5 ok release", Violated},
		{"owners are told", "mutex", "0 acquire o=a\n0 info acquire o=a\n5 release o=b\n5 ok release o=b", Violated},
		{"it renews", Claims, "0 acquire\n0 ok acquire\n0 extend\n0 info extend\n5 extend\n5 ok extend", Unknown},
		{"a stranger renews", Claims, "0 acquire\n0 ok acquire\n5 extend\n5 ok extend", Violated},
	} {
		m, _ := Named(c.model)
		d, heirs := m.New(Options{}), NewHeirs()
		for _, e := range script(c.script) {
			if err := d.Add(e); err != nil {
				t.Fatal(c.name, err)
			}
			heirs.Add(&e)
		}
		r := d.End()
		heirs.Doubt(&r)
		if r.Verdict != c.want {
			t.Errorf("%s: %s, want %s: %s", c.name, r.Verdict, c.want, r.Reason)
		}
	}
}
