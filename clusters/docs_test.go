package clusters

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/golden"
)

// The page for users has the tables of what is honoured, of what needs --allow-host and of
// what is refused from the table that decides it.
func TestPage(t *testing.T) {
	const path = "../docs/compose.md"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for mark, rows := range map[string]string{
		"honoured": table([]string{"field", "of what"}, honoured),
		"docker":   table([]string{"field", "of what"}, inDocker),
		"idle":     table([]string{"field", "why"}, idle),
		"refused":  table([]string{"field", "what to do instead"}, refused),
	} {
		begin, end := []byte("<!-- "+mark+" -->\n"), []byte("<!-- end -->")
		before, rest, found := bytes.Cut(page, begin)
		_, after, ended := bytes.Cut(rest, end)
		if !found || !ended {
			t.Fatalf("%s has no place for %s", path, mark)
		}
		page = slices.Concat(before, begin, []byte(rows), end, after)
	}
	golden.Compare(t, path, page)
}

// table lists the fields of a treatment, those with the same words in one row.
func table(head []string, kind treatment) string {
	rows := map[string][]string{}
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		if f := fields[path]; f.treatment == kind {
			name := strings.TrimPrefix(path, "services.*.")
			if !strings.HasPrefix(path, "services.") {
				name += " (of the file)"
			}
			rows[f.say] = append(rows[f.say], "`"+strings.Replace(name, " (of the file)", "` (of the file)", 1))
			if last := len(rows[f.say]) - 1; !strings.HasSuffix(rows[f.say][last], ")") {
				rows[f.say][last] += "`"
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|---|---|\n", strings.Join(head, " | "))
	for _, say := range slices.SortedFunc(maps.Keys(rows), func(a, b string) int { return strings.Compare(rows[a][0], rows[b][0]) }) {
		fmt.Fprintf(&b, "| %s | %s |\n", strings.Join(rows[say], ", "), say)
	}
	return b.String()
}
