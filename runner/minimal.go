package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/history"
)

// minimize saves the smallest history of each of the first violations in N.jsonl of a
// folder, which will be that of the run's violations.
func minimize(ctx context.Context, dir string, out *Outcome) error {
	return checker.Minimize(ctx, out.Setup, out.Ops, &out.Result,
		func(number int, setup history.Setup, ops []history.Op) (string, history.Setup, []history.Op, error) {
			name := fmt.Sprintf("%d.jsonl", number)
			var text bytes.Buffer
			err := errors.Join(os.MkdirAll(dir, 0o755), history.Encode(&text, setup, ops))
			if err == nil {
				err = Write(dir, name, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
			}
			if err == nil {
				setup, ops, err = history.Decode(&text)
			}
			return violationsDir + "/" + name, setup, ops, err
		})
}
