package workloads

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// Store is the program of the guarded resource: it serves until its agent, whose orders
// come on in, has it end its records, or ctx ends. Then it writes how many there were to w.
func Store(ctx context.Context, in io.Reader, w io.Writer, listen string, rules resource.Rules) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		orders := json.NewDecoder(in)
		for {
			var o agent.Order
			if orders.Decode(&o) != nil {
				return // the agent is gone, and kills its child
			}
			if o.End {
				cancel(nil)
			}
		}
	}()
	out, ops := json.NewEncoder(w), 0
	emit := func(op history.Op) { // one call at a time
		raw, err := json.Marshal(op)
		if err == nil {
			err = out.Encode(agent.Line{Op: raw})
		}
		if err != nil {
			cancel(fmt.Errorf("store: its agent is gone: %w", err))
			return
		}
		ops++
	}
	if err := resource.Serve(ctx, listen, rules, emit); err != nil {
		return err
	}
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return out.Encode(agent.Line{End: &agent.Ended{Ops: ops}})
}
