package matrix

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/internal/bounded"
	"github.com/dlmtest/dlmtest/reports/pages"
)

// An index of two short lists that span a huge table is refused before the table is drawn.
func TestTableHasAnEnd(t *testing.T) {
	names := func(what string, n int) (all string) {
		for i := range n {
			all += fmt.Sprintf(",%q", fmt.Sprintf("%s%d", what, i))
		}
		return "[" + all[1:] + "]"
	}
	for n, large := range map[int]bool{300: false, 3000: true} {
		dir := t.TempDir()
		text := fmt.Sprintf(`{"dlmtest_index":%d,"id":"x","scenarios":%s,"backends":%s}`, pages.IndexFormat, names("s", n), names("b", n))
		if err := os.WriteFile(filepath.Join(dir, indexFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); errors.Is(err, bounded.ErrTooLarge) != large || !large && err != nil {
			t.Errorf("%d × %d: %v", n, n, err)
		}
	}
}

// One run that an index names as two would count twice.
func TestOneFolderIsOneRun(t *testing.T) {
	for other, twice := range map[string]bool{"b": false, "": false, "a": true, "./a": true} {
		dir := t.TempDir()
		text := fmt.Sprintf(`{"dlmtest_index":%d,"id":"x","scenarios":["s"],"backends":["redis"],"cells":[{"scenario":"s","backend":"redis","verdict":"holds",
"runs":[{"seed":1,"verdict":"holds","dir":"a"},{"seed":2,"verdict":"holds","dir":%q},{"seed":3,"verdict":"failed","dir":""}]}]}`, pages.IndexFormat, other)
		if err := os.WriteFile(filepath.Join(dir, indexFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); twice != (err != nil && strings.Contains(err.Error(), "is of two runs")) || !twice && err != nil {
			t.Errorf("%q: %v", other, err)
		}
	}
}
