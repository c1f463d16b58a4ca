package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// listedAs is entryOf where nothing was read yet.
func (s *Server) listedAs(name string) entry {
	left := int64(mostOfAList)
	return s.entryOf(name, &left)
}

// What a folder says of itself is neither kept nor shown at any length.
func TestEntriesAreShort(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("é", 1<<20)
	write(t, filepath.Join(dir, "run", "run.json"), `{"dlmtest_run":1,"scenario":"`+long+`","backend":"redis"}`)
	write(t, filepath.Join(dir, "run", "results.json"), `{"verdict":"violated","properties":[{"name":"`+long+`","verdict":"violated"}]}`)
	write(t, filepath.Join(dir, "matrix", "index.json"), `{"dlmtest_index":1,"scenarios":["`+long+`"],"backends":["redis"]}`)
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range []string{"run", "matrix"} {
		e := s.listedAs(name)
		if n := utf8.RuneCountInString(e.Title); n > longestTitle || !strings.HasPrefix(e.Title, "éé") {
			t.Errorf("%s: a title of %d letters", name, n)
		}
		if n := utf8.RuneCountInString(e.More); n > longestMore {
			t.Errorf("%s: %d letters more", name, n)
		}
	}
}

// A page reads so much and no more, and says of the rest that it comes when the page is loaded again.
func TestListReadsSoMuch(t *testing.T) {
	dir := t.TempDir()
	text := `{"dlmtest_run":1,"scenario":"big"` + strings.Repeat(" ", mostRead-100) + "}"
	write(t, filepath.Join(dir, "0", "run.json"), text)
	for i := 1; i < 7; i++ { // links of one file, so that it takes no room
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprint(i)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(filepath.Join(dir, "0", "run.json"), filepath.Join(dir, fmt.Sprint(i), "run.json")); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for load, want := range []int{4, 7} {
		runs, _, err := s.entries(".")
		if err != nil {
			t.Fatal(err)
		}
		read := 0
		for _, e := range runs {
			if e.Title == "big" && e.Says == notJudged {
				read++
			} else if e.Says != later {
				t.Errorf("%+v", e)
			}
		}
		if len(runs) != 7 || read != want {
			t.Errorf("load %d: %d of %d runs were read, want %d", load+1, read, len(runs), want)
		}
	}
}

// A page shows so many files and no more, and says how many it leaves out.
func TestFilesOfAHugeFolder(t *testing.T) {
	dir, at := many(t)
	for i := range mostFiles + 5 {
		write(t, filepath.Join(dir, "huge", fmt.Sprintf("f%d", i)), "")
	}
	_, body := get(t, at, "/huge/")
	if n := strings.Count(body, `href="./f`); n != mostFiles || !strings.Contains(body, "5 more files") {
		t.Errorf("%d files are shown, of %d", n, mostFiles+5)
	}
}
