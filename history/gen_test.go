package history

import "fmt"

// sample returns n operations that look like those of a real run.
func sample(n int) (Setup, []Op) {
	setup := Setup{Promise: Promise{Backend: "redis", Leased: true, Token: true}, Lease: 1e9, Keys: []string{"k"}, Clients: []string{"client-1", "client-2"}}
	ops := make([]Op, 0, n)
	add := func(op Op) {
		op.Time, op.Mono, op.Real = int64(len(ops))*1000+123456789012, int64(len(ops))*1000+123456789042, int64(len(ops))*1000+1700000000123456789
		op.Index, op.Key = len(ops), "k"
		ops = append(ops, op)
	}
	for i := 0; len(ops) < n; i++ {
		client, owner := 1+i%2, fmt.Sprintf("client-%d/%d", 1+i%2, i)
		value, base := fmt.Sprintf("v%d", i+1), fmt.Sprintf("v%d", i)
		step := func(t Type, f F) Op {
			return Op{Node: fmt.Sprintf("client-%d", client), Process: client, Type: t, F: f}
		}
		add(step(Invoke, Acquire))
		ok := step(OK, Acquire)
		ok.Owner, ok.Token, ok.Lease, ok.Sent = owner, int64(i+1), 1e9, ops[len(ops)-1].Time+100
		ok.Deadline = ok.Sent + 1e9
		add(ok)
		w := step(Invoke, Write)
		w.Owner, w.Token, w.Value, w.Unfenced, w.Fenced = owner, ok.Token, value, &Copy{Base: base}, &Copy{Base: base}
		add(w)
		w.Type, w.F, w.Node = Note, Apply, "resource"
		w.Unfenced, w.Fenced = &Copy{Base: base, Previous: base, Accepted: true}, &Copy{Base: base, Previous: base, Accepted: true, Token: ok.Token}
		add(w)
		w = step(OK, Write)
		w.Owner, w.Value, w.Unfenced, w.Fenced = owner, value, &Copy{Accepted: true}, &Copy{Accepted: true}
		add(w)
		r := step(Invoke, Release)
		r.Owner = owner
		add(r)
		r.Type = OK
		add(r)
	}
	return setup, ops[:n]
}
