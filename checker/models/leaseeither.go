package models

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
)

// either judges leases with tokens by the pass over them, and those without by what is
// certain, which Porcupine may settle: the first grant tells which they are.
type either struct {
	*leases
	windows *windows
	chosen  judge // nil: there was no grant as yet, and the two are alike
}

func (e *either) call(op *operation) string {
	if e.chosen != nil {
		return e.chosen.call(op)
	}
	return e.leases.call(op) + e.windows.call(op)
}

func (e *either) done(op *operation) {
	grant := taking(op.F) && op.Type == history.OK
	switch {
	case e.chosen == nil && grant && op.Token > 0:
		e.chosen = e.leases
	case e.chosen == nil && grant:
		e.chosen = e.windows
	case grant && op.Token == 0 && e.chosen == judge(e.leases):
		op.owner.lent, op.owner.token, op.owner.session = true, 0, nil // what it had before is over
		e.found.doubted(fmt.Sprintf("%s was granted %sat %s without a token, and others with one", op.who(), keyed(e.k), op.ret))
		return
	}
	if e.chosen != nil {
		e.chosen.done(op)
		return
	}
	e.leases.done(op)
}

func (e *either) end() {
	if e.chosen != nil {
		e.chosen.end()
	}
}
