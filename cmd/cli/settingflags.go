package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dlmtest/dlmtest/internal/settings"
	"github.com/dlmtest/dlmtest/runner"
)

// settingFlags gives a command the flags of settings, as their fields have them.
func settingFlags(cmd *cobra.Command, s *settings.Settings, flags ...string) {
	for _, name := range flags {
		f := settings.Of(name)
		help := strings.Replace(f.Help, f.Value, "`"+f.Value+"`", 1)
		if f.Value == "" {
			help = f.Help
		}
		switch v := f.Ptr(s).(type) {
		case *string:
			cmd.Flags().StringVar(v, name, f.Default, help)
		case *settings.Timeout:
			cmd.Flags().StringVar((*string)(v), name, f.Default, help)
		case *int:
			cmd.Flags().IntVar(v, name, 0, help)
		case *bool:
			cmd.Flags().BoolVar(v, name, false, help)
		case *[]string:
			cmd.Flags().StringSliceVar(v, name, nil, help)
		}
		if f.Words != nil {
			_ = cmd.RegisterFlagCompletionFunc(name, complete(f.Words))
		}
	}
}

// checkSettings refuses the first setting that cannot be, with what it can be.
func checkSettings(s settings.Settings) error {
	if all := s.Check(); len(all) > 0 {
		p := all[0]
		if p.Field.Words != nil {
			return oneOf(p.Field.Flag, p.Value, p.Field.Words...)
		}
		return usageError{fmt.Errorf("--%s %s: %s", p.Field.Flag, p.Value, p.Want)}
	}
	for _, f := range settings.Fields() { // an empty word was typed, as of a variable that is not set
		if f.Words != nil && !f.Said(s) {
			return oneOf(f.Flag, "", f.Words...)
		}
	}
	return nil
}

// givenOf are the settings that were given by flags of a command, out of those in s.
func givenOf(flags *pflag.FlagSet, s settings.Settings) (g runner.Given) {
	for _, f := range settings.Fields() {
		if flag := flags.Lookup(f.Flag); flag == nil || !flag.Changed {
			continue
		}
		if f.Copy(&g.Settings, s); !f.Said(s) {
			g.Unset = append(g.Unset, f.Flag)
		}
	}
	return g
}
