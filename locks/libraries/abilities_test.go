package libraries

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/locks/protocol"
)

var update = flag.Bool("update", false, "write the table of docs/libraries.md anew")

const begin, end = "<!-- abilities: written by go test ./locks/libraries -run TestAbilities -update -->\n", "<!-- end of abilities -->\n"

// What the page says that libraries offer is what their adapters say, which TestOnePromise
// and TestForeignHello hold against their hello.
func TestAbilities(t *testing.T) {
	const path = "../../docs/libraries.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(page), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", path)
	}
	want := before + begin + abilities(t) + end + after
	if *update {
		err = os.WriteFile(path, []byte(want), 0o644)
	}
	if err != nil || !*update && want != string(page) {
		t.Errorf("%s does not say what the adapters offer; %v", path, err)
	}
}

// abilities is the table library × ability, with a note for each that is left out.
func abilities(t *testing.T) string {
	var offers []string
	for _, o := range protocol.Offers {
		if o.Name != protocol.OfferConcurrent { // of the adapter's side alone
			offers = append(offers, o.Name)
		}
	}
	var b, notes strings.Builder
	fmt.Fprintf(&b, "| library | %s |\n|---|%s\n", strings.Join(offers, " | "), strings.Repeat("---|", len(offers)))
	n := 0
	for _, name := range slices.Sorted(maps.Keys(Table)) {
		l := Table[name]
		b.WriteString("| " + name + " |")
		for _, o := range offers {
			cell, why := "–", l.Left[o]
			offered := slices.Contains(l.Offers, o)
			switch {
			case offered && why != "":
				t.Errorf("%s offers %s, and leaves it out", name, o)
			case offered:
				cell = "yes"
			case why != "":
				n++
				cell = fmt.Sprintf("has (%d)", n)
				fmt.Fprintf(&notes, "%d. %s, %s: %s.\n", n, name, o, why)
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
		for o := range l.Left {
			if !slices.Contains(offers, o) {
				t.Errorf("%s leaves out %q, which the protocol does not know", name, o)
			}
		}
	}
	return b.String() + "\n" + notes.String()
}

// The table has what the adapters of other languages say of themselves.
func TestForeignHello(t *testing.T) {
	for name, l := range Table {
		if l.Image == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if out, err := exec.Command(l.Tells[0], l.Tells[1:]...).Output(); err != nil || len(out) < 3 {
				t.Skipf("its packages are not here: %s %v", out, err)
			}
			c, err := protocol.Dial(t.Context(), protocol.Command{Argv: argv(t, name)}, func(*protocol.Conn, protocol.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = c.Drop() }()
			h := c.Hello()
			if err := saysSo(h, "", l.Offers); err != nil || h.Name != name {
				t.Error(h.Name, err)
			}
		})
	}
}

// argv starts the adapter of a library of another language.
func argv(t *testing.T, name string) []string {
	dir, err := laidOut()
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err != nil {
		t.Fatal(err)
	}
	word := slices.Clone(Table[name].argv)
	for i, w := range word {
		if slices.Contains([]string{".py", ".java"}, filepath.Ext(w)) {
			word[i] = filepath.Join(dir, w)
		}
	}
	return word
}
