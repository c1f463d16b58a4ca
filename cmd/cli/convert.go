package cli

import (
	"cmp"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker/formats"
)

func newConvert() *cobra.Command {
	var from historyFlags
	var to, out, layout string
	var lease time.Duration
	cmd := &cobra.Command{
		Use:   "convert FILE",
		Short: "Write a history in another format",
		Long: `Write a history in another format: as EDN for Jepsen and Knossos, or as a history of dlmtest.
FILE may be - for standard input. An operation that the other format cannot express is refused,
with its line.`,
		Example: `  dlmtest convert runs/latest/history.jsonl --to edn -o history.edn
  dlmtest convert store/latest/history.edn --to jsonl --lease 10s
  zcat lock.json.gz | dlmtest convert - --to edn --layout vector`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneOf("to", to, "edn", "jsonl"); err != nil {
				return err
			}
			if err := oneOf("layout", layout, string(formats.Lines), string(formats.Vector)); err != nil {
				return err
			}
			r, done, err := from.open(cmd, args[0])
			if err != nil {
				return err
			}
			defer done()
			err = writeTo(cmd, out, func(w io.Writer) error {
				if to == "edn" {
					return formats.WriteEDN(w, r.Events(), formats.Layout(layout))
				}
				return formats.WriteDlmtest(w, r.Events(), lease)
			})
			if err == nil {
				leftOut(cmd, args[0], r)
			}
			return err
		},
	}
	from.add(cmd)
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "edn, or jsonl for a history of dlmtest")
	f.StringVar(&layout, "layout", string(formats.Lines), "of EDN: lines (one map a line) or vector (one vector of maps)")
	f.StringVarP(&out, "out", "o", "-", "file to write; - is standard output")
	f.DurationVar(&lease, "lease", 0, "for the header of a dlmtest history in which no grant names its lease")
	_ = cmd.MarkFlagRequired("to") // fails only for unknown flags
	_ = cmd.RegisterFlagCompletionFunc("to", complete([]string{"edn", "jsonl"}))
	_ = cmd.RegisterFlagCompletionFunc("layout", complete([]string{string(formats.Lines), string(formats.Vector)}))
	return cmd
}

// writeTo writes a file whole or not at all: half a history is a wrong one. A device or a pipe is written to.
func writeTo(cmd *cobra.Command, path string, write func(io.Writer) error) error {
	var wrong error // of the history; else it is of the file
	err := output{path: path}.write(cmd.OutOrStdout(), func(w io.Writer) error {
		wrong = write(w)
		return wrong
	})
	if err = cmp.Or(wrong, err); err != nil {
		return fmt.Errorf("%s is not written: %w", path, err)
	}
	return nil
}
