package workloads

import (
	"context"
	"encoding/json"
	"io"

	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/workloads/resource"
)

// Store is the program of the guarded resource: it serves until its agent, whose orders
// come on in, has it end its records, or ctx ends. Then it writes how many there were to w.
func Store(ctx context.Context, in io.Reader, w io.Writer, listen string, rules resource.Rules) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		orders := json.NewDecoder(in)
		for {
			var o agent.Order
			if orders.Decode(&o) != nil {
				return // the agent is gone, and kills its child
			}
			if o.End {
				cancel()
			}
		}
	}()
	l := &link{out: w}
	if err := resource.Serve(ctx, listen, rules, l.record); err != nil {
		return err
	}
	l.end()
	return nil
}
