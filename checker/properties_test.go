package checker

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/golden"
)

// Each row of the table of properties is whole, and no two have the same name.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Checkers {
		if c.Name == "" || c.About == "" || c.Remedy == "" || c.check == nil || seen[c.Name] {
			t.Errorf("%q is not whole, or stands twice", c.Name)
		}
		if (c.oracle.of == nil) == (c.oracle.why == "") {
			t.Errorf("%s: either a question for Porcupine, or a reason why there is none", c.Name)
		}
		if row, known := Find(c.Name); !known || row.About != c.About {
			t.Errorf("%s is not found", c.Name)
		}
		seen[c.Name] = true
	}
	if _, known := Find("linearizable"); known || len(Names()) != len(Checkers) {
		t.Errorf("%d names of %d properties", len(Names()), len(Checkers))
	}
}

// The table in docs/properties.md is made from the rows.
func TestDocs(t *testing.T) {
	const page, begin, end = "../docs/properties.md", "-update -->\n", "<!-- end -->"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(text), begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		t.Fatalf("%s has no place for the table", page)
	}
	golden.Compare(t, page, []byte(before+begin+table()+end+after))
}

// table is the table of all properties in Markdown.
func table() string {
	var b strings.Builder
	b.WriteString("| property | violated when | whose promise | asked of |\n|---|---|---|---|\n")
	owed := map[Debtor]string{Nobody: "nobody", Service: "service", Unleased: "service without leases", Data: "data", Fence: "the fence"}
	for _, c := range Checkers {
		of := "every lock"
		var kinds []string
		for _, k := range c.kinds {
			kinds = append(kinds, cmp.Or(string(k), "mutex"))
		}
		switch {
		case c.use != "":
			of = "the use " + c.use
		case len(kinds) > 0:
			of = "the kind " + strings.Join(kinds, ", ")
			if c.also != nil {
				of += ", and locks of one holder in a run with `--free-within`"
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Name, c.About, owed[c.Owed], of)
	}
	return b.String()
}
