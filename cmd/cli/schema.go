package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/docs/schema"
)

func newSchema() *cobra.Command {
	names := schema.Names()
	return &cobra.Command{
		Use:   "schema compose|gate|scenario",
		Short: "Print the JSON Schema of a file, for editors",
		Long: `Print the JSON Schema of scenario files, of gate files, or of compose files as dlmtest
reads them. An editor with the YAML language server completes and checks a file whose
first line names its schema, such as

  # yaml-language-server: $schema=gate.schema.json

The files that dlmtest ships name the published one. A schema cannot
express a rule between two fields or files: the command that reads the file checks it.`,
		Example:   "  dlmtest schema gate >gate.schema.json\n  dlmtest schema scenario",
		Args:      cobra.ExactArgs(1),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			text := schema.Of(args[0])
			if text == nil {
				return among(fmt.Sprintf("unknown schema %q", args[0]), args[0], names...)
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
