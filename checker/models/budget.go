package models

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

// The budget for all smallest histories of one result.
const (
	reduceWork      = 20_000_000       // operations that are judged on the way
	reduceQuestions = 200_000          // each costs something, however small it is
	reduceTime      = 10 * time.Second // a machine may be slow, or busy
)

// Budget bounds the reductions of one result: by what they judge, by how often they
// ask, by time, and by an interrupt.
type Budget struct {
	ctx             context.Context
	until           time.Time
	Work, Questions int // spent so far
	Most            int // questions; 0: as usual
}

// NewBudget begins now. A cancel of ctx ends it at once.
func NewBudget(ctx context.Context) Budget {
	return Budget{ctx: ctx, until: time.Now().Add(reduceTime)}
}

// Spend counts a question about so many operations.
func (b *Budget) Spend(operations int) {
	b.Work += operations
	b.Questions++
}

// Over says why nothing more may be asked; "": it may.
func (b *Budget) Over() string {
	switch {
	case b.ctx.Err() != nil:
		return "it was interrupted"
	case b.Work > reduceWork:
		return fmt.Sprintf("more than %.0e operations were judged for it and for others", float64(reduceWork))
	case b.Questions >= cmp.Or(b.Most, reduceQuestions):
		return fmt.Sprintf("%d questions were asked for it and for others", cmp.Or(b.Most, reduceQuestions))
	case time.Now().After(b.until):
		return fmt.Sprintf("it and others took longer than %v", reduceTime)
	}
	return ""
}
