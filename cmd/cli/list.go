package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/checker/formats"
	"github.com/dlmtest/dlmtest/checker/models"
	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/locks/libraries"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
)

// item is one thing that dlmtest knows by name.
type item struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

// shelf is one kind of thing.
type shelf struct {
	kind  string
	items []item
}

func newList() *cobra.Command {
	var asJSON bool
	kinds := []string{"scenarios", "backends", "libraries", "faults", "triggers", "targets", "properties", "models", "formats", "words"}
	cmd := &cobra.Command{
		Use:       "list [scenarios|backends|libraries|faults|triggers|targets|properties|models|formats|words]",
		Short:     "Show the scenarios, backends, faults, their triggers and targets, and properties; models and formats of histories",
		Example:   "  dlmtest list\n  dlmtest list backends --json",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: kinds,
		RunE: func(cmd *cobra.Command, args []string) error {
			shelves := shelves()
			if len(args) == 1 {
				if err := among(fmt.Sprintf("unknown kind %q", args[0]), args[0], kinds...); err != nil {
					return err
				}
				kept := shelves[:0]
				for _, s := range shelves {
					if s.kind == args[0] {
						kept = append(kept, s)
					}
				}
				shelves = kept
			}
			if asJSON {
				return listJSON(cmd.OutOrStdout(), shelves)
			}
			listText(cmd.OutOrStdout(), shelves)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func shelves() []shelf {
	all := []shelf{{kind: "scenarios"}, {kind: "backends"},
		{"libraries", libraryItems()},
		{"faults", words(nemesis.Kinds)}, {"triggers", append(words(scenarios.Triggers), comesAfter)},
		{"targets", words(scenarios.Targets)}, {kind: "properties"}, {kind: "models"}, {kind: "formats"}, {kind: "words"}}
	for _, name := range scenarios.Names() {
		if s, err := scenarios.Load(name); err == nil { // embedded ones are tested
			all[0].items = append(all[0].items, item{name, s.Title})
		}
	}
	for _, name := range backends() {
		about := locks.Table[name].Promise.About
		if flaw := locks.Table[name].Broken; flaw != nil {
			about = "broken on purpose: " + flaw.About
		}
		all[1].items = append(all[1].items, item{name, about})
	}
	at := len(all) - 4 // properties and what follows them
	for _, c := range checker.Checkers {
		all[at].items = append(all[at].items, item{c.Name, c.About})
	}
	for _, m := range models.Models {
		all[at+1].items = append(all[at+1].items, item{m.Name, m.About})
	}
	for _, f := range formats.Formats() {
		all[at+2].items = append(all[at+2].items, item{f.Name, f.About})
	}
	for _, f := range formats.Ops() {
		all[at+3].items = append(all[at+3].items, item{string(f), "in a history: " + strings.Join(formats.Names[f], ", ")})
	}
	return all
}

// libraryItems are the libraries under test, with the version in this program, and those
// that are built at any version.
func libraryItems() []item {
	all := []item{{history.Reference, "the lock that dlmtest brings for each backend, written after its published algorithm"}}
	for _, name := range libraries.Names() {
		l := libraries.Table[name]
		all = append(all, item{name, fmt.Sprintf("%s, on %s: %s", l.From(), strings.Join(l.Backends(), ", "), l.About)})
	}
	for _, name := range libraries.Pinnable() {
		all = append(all, item{name + "@VERSION", "a version that you name, from " + libraries.Table[name].Since() +
			" on, built from its module when it is first run"})
	}
	return all
}

// comesAfter is the trigger that is a field of its own, beside on.
var comesAfter = item{"after", "after: NAME, once another fault has healed, or after: {fault: NAME, when: begun}; goes with any of the others"}

// words are a table in the order of its words.
func words(w nemesis.Words) []item {
	var all []item
	for _, name := range slices.Sorted(maps.Keys(w)) {
		all = append(all, item{name, w[name]})
	}
	return all
}

func listJSON(w io.Writer, shelves []shelf) error {
	out := map[string][]item{}
	for _, s := range shelves {
		out[s.kind] = s.items
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(out)
}

func listText(w io.Writer, shelves []shelf) {
	for i, s := range shelves {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintln(w, s.kind)
		t := table.NewWriter()
		t.SetOutputMirror(w)
		t.SetStyle(table.StyleDefault)
		t.Style().Options = table.OptionsNoBordersAndSeparators
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: 90, WidthMaxEnforcer: text.WrapSoft}})
		for _, it := range s.items {
			t.AppendRow(table.Row{" " + it.Name, it.About})
		}
		t.Render()
	}
}
