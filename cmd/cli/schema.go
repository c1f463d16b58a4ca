package cli

import (
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/docs/schema"
	"github.com/dlmtest/dlmtest/internal/near"
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
				return usageError{unknown("schema", args[0], near.Nearest(args[0], names), "dlmtest schema --help")}
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
	}
}
