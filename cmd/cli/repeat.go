package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/internal/settings"
)

// repeat is the command that runs one cell again: the flags that were given, and
// the seed.
func repeat(cmd *cobra.Command, scenario string, lock underTest, seed uint64) []string {
	words := []string{"dlmtest", cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "count", "parallel", "fresh", "shard", "timings":
		case "scenario":
			words = append(words, "--scenario", scenario)
		case "backend":
			words = append(words, "--backend", lock.backend)
		case "library":
			if !cmd.Flags().Changed("backend") {
				words = append(words, "--backend", lock.backend)
			}
			if lock.library != "" {
				words = append(words, "--library", lock.library)
			}
		default:
			words = append(words, given(f)...)
		}
	})
	return append(words, "--seed", fmt.Sprint(seed))
}

// repeatAll is the command that runs the whole matrix again.
func repeatAll(cmd *cobra.Command, f runFlags) []string {
	words := []string{"dlmtest", cmd.Name(), "--scenario", strings.Join(f.scenarios, ",")}
	if len(f.backends) > 0 {
		words = append(words, "--backend", strings.Join(f.backends, ","))
	}
	if len(f.libraries) > 0 {
		words = append(words, "--library", strings.Join(f.libraries, ","))
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"scenario", "backend", "library", "shard", "timings"}, f.Name) { // all shards are of one command
			words = append(words, given(f)...)
		}
	})
	return append(words, "--seed", fmt.Sprint(f.seed))
}

// given is a flag as it was given; none for those that a repeat does not need.
func given(f *pflag.Flag) []string {
	switch {
	case f.Name == "seed" || f.Name == "out" || f.Name == "json":
		return nil
	case f.Value.Type() == "bool":
		return []string{fmt.Sprintf("--%s=%s", f.Name, f.Value)}
	}
	if list, ok := f.Value.(pflag.SliceValue); ok {
		words := list.GetSlice()
		if f.Name == "endpoint" {
			words = secret.Endpoints(words)
		}
		return []string{"--" + f.Name, strings.Join(words, ",")}
	}
	if f.Name == "adapter" {
		return []string{"--adapter", maskedCommand(f.Value.String())}
	}
	return []string{"--" + f.Name, secret.Mask(f.Value.String())}
}

// maskedCommand is a command line without passwords. Its words say where a URL in quotes ends.
func maskedCommand(line string) string {
	words, err := shellwords.NewParser().Parse(line)
	masked := secret.Words(words)
	if err != nil || slices.Equal(words, masked) {
		return secret.Mask(line)
	}
	return settings.Shell(masked)
}

// withSeed is the command of a run with another seed, which stands last.
func withSeed(command []string, seed uint64) []string {
	return append(command[:len(command)-1:len(command)-1], strconv.FormatUint(seed, 10))
}
