package cli

import "github.com/spf13/cobra"

// group is commands for one purpose, as help lists them.
type group struct {
	id, title string
	commands  []*cobra.Command
}

// groups are all commands that people type.
func groups() []group {
	return []group{
		{"run", "Run:", []*cobra.Command{newRun(), newReplay(), newShrink(), newHunt(), newCorpus(), newCapacity()}},
		{"judge", "Judge:", []*cobra.Command{patient(newCheck()), patient(newExplain()), patient(newConvert())}},
		{"show", "Show:", []*cobra.Command{patient(newReport()), newServe(), newList(), newSchema()}},
		{"gate", "Gate:", []*cobra.Command{newGate(), patient(newDiff())}},
		{"tools", "Tools:", []*cobra.Command{newConform(), newInit(), newSelftest(), newDoctor(), newImages(), newMan()}},
	}
}

// addGroups adds the commands of all groups, and cobra's own to the tools.
func addGroups(root *cobra.Command) {
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("tools")
	root.SetCompletionCommandGroupID("tools")
}
