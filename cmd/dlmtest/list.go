package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dlmtest/dlmtest/checker"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/scenarios"
	"github.com/dlmtest/dlmtest/scenarios/near"
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
	kinds := []string{"scenarios", "backends", "libraries", "faults", "properties"}
	cmd := &cobra.Command{
		Use:       "list [scenarios|backends|libraries|faults|properties]",
		Short:     "Show the scenarios, backends, libraries, faults and properties",
		Example:   "  dlmtest list\n  dlmtest list backends --json",
		Args:      cobra.MaximumNArgs(1),
		ValidArgs: kinds,
		RunE: func(cmd *cobra.Command, args []string) error {
			shelves := shelves()
			if len(args) == 1 {
				if !slices.Contains(kinds, args[0]) {
					return usageError{unknown("kind", args[0], near.Nearest(args[0], kinds), "dlmtest list --help")}
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
		{"libraries", []item{{"reference", "the lock that dlmtest brings for each backend, written after its published algorithm"}}},
		{kind: "faults"}, {kind: "properties"}}
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
	for kind, about := range nemesis.Kinds {
		all[3].items = append(all[3].items, item{kind, about})
	}
	sort.Slice(all[3].items, func(i, j int) bool { return all[3].items[i].Name < all[3].items[j].Name })
	for _, c := range checker.Checkers {
		all[4].items = append(all[4].items, item{c.Name, c.About})
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
