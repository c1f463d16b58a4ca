package cli

import (
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

// newMan is for those who package dlmtest: make man, and a release.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the manual pages of all commands",
		Example: "  dlmtest man build/man",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			root := cmd.Root()
			root.InitDefaultHelpCmd()
			root.DisableAutoGenTag = true
			asMarkdown(root)
			fixed := time.Unix(0, 0).UTC() // a page that is made again is the same
			header := &doc.GenManHeader{Section: "1", Source: "dlmtest " + version, Manual: "dlmtest", Date: &fixed}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("man: %w", err)
			}
			return nil
		},
	}
}

// literal keeps Markdown, as which cobra reads the words of commands, from taking signs out of them.
var literal = strings.NewReplacer("*", `\*`, "_", `\_`, "<", `\<`, "`", "\\`")

// asMarkdown writes the help of a command and of those below it so that its manual page says the same.
func asMarkdown(cmd *cobra.Command) {
	var lines []string
	for line := range strings.Lines(cmd.Long) {
		if strings.HasPrefix(line, "  ") {
			line = "  " + line // four blanks: as it stands
		} else {
			line = literal.Replace(line)
		}
		lines = append(lines, line)
	}
	cmd.Long, cmd.Short = strings.Join(lines, ""), literal.Replace(cmd.Short)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		word, usage := pflag.UnquoteUsage(f)
		if _, quoted, _ := strings.Cut(f.Usage, "`"); quoted != "" {
			usage = strings.Replace(usage, word, "\x00", 1)
		}
		f.Usage = strings.Replace(literal.Replace(usage), "\x00", "`"+word+"`", 1)
	})
	for _, below := range cmd.Commands() {
		asMarkdown(below)
	}
}
