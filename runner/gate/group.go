package gate

import "fmt"

// group is several properties of a cell of which the same is to be said.
type group struct {
	Judgement  // of the first
	properties []string
}

// groups puts properties together that the file does not name and that have one
// state for one reason. What failed always stands alone. With all, everything does,
// and what is not promised is there, too.
func (c CellReport) groups(all bool) (groups []*group) {
	at := map[string]*group{}
	for _, j := range c.Properties {
		if j.State == Skipped && !j.Named && !all {
			continue
		}
		key := fmt.Sprint(j.State, j.Why)
		if g := at[key]; g != nil && !j.Named && j.State != Fail && !all {
			g.properties = append(g.properties, j.Property)
			continue
		}
		g := &group{j, []string{j.Property}}
		groups = append(groups, g)
		if !j.Named {
			at[key] = g
		}
	}
	return groups
}

// name is what a line calls a group.
func (g group) name() string {
	if len(g.properties) == 1 {
		return g.Property
	}
	return "*"
}
