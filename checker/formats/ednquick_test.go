package formats

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// stepsOf reads EDN and gives what was read, with every place, and the error as the last.
func stepsOf(in io.Reader, keyed bool) (all []string) {
	r := &Reader{Skipped: map[string]int{}, in: in}
	r.looking = func(s *step) bool {
		all = append(all, fmt.Sprintf("%+v", *s))
		return true
	}
	return append(all, fmt.Sprint(r.readMaps(keyed)))
}

// sameQuickly reads text as a whole, and byte by byte, where no map is at hand as a whole.
func sameQuickly(t rapid.TB, text string) {
	for _, keyed := range []bool{false, true} {
		quick, slow := stepsOf(strings.NewReader(text), keyed), stepsOf(iotest.OneByteReader(strings.NewReader(text)), keyed)
		for i := range max(len(quick), len(slow)) {
			if i >= len(quick) || i >= len(slow) || quick[i] != slow[i] {
				t.Fatalf("%q\nquick %q\nslow  %q", text, quick[min(i, len(quick)):], slow[min(i, len(slow)):])
			}
		}
	}
}

// TestQuick wants whole maps read as those that come byte by byte.
func TestQuick(t *testing.T) {
	files, err := filepath.Glob("testdata/*.edn")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sameQuickly(t, string(text))
	}
	names := rapid.SampledFrom([]string{":process", ":type", ":f", ":value", ":key", ":time", ":owner", ":token", ":fence", ":lease", ":try", ":error", ":refused",
		":index", ":Process", ":", "::", ":a/b", "process", `"f"`, "f", "#_ :f", ":tïme", ":" + strings.Repeat("long", 10)})
	values := rapid.SampledFrom([]string{"0", "7", "007", "-1", "+3", "3N", "1.5", "1.5M", "0x1f", "1/3", "999999999999999999", "1000000000000000000", "9223372036854775808",
		"nil", "true", "false", ":invoke", ":ok", ":fail", ":info", ":acquire", ":nemesis", `"a"`, `""`, `"a b"`, `"é"`, `"a\nb"`, "\"a\nb\"", "\"a\tb\"", "\"\xff\"", `"{:a 1}"`,
		"[]", "[1 2]", "[1 [2 nil]]", "(1, 2)", "[1 2)", "[[[[1]]]]", "[" + strings.Repeat("1 ", 70) + "]", "{}", "{:client \"a\", :fence 3}", "#{1}", "#inst \"x\"", "#_ 1 2", "\\a", "\\{",
		"a", ":x", ":", "", "; no\n 3", "]", "}", "3:x", `3"x"`, strings.Repeat("w", 40), "\x00", "é"})
	between := rapid.SampledFrom([]string{" ", " ", " ", ", ", ",", "  ", "\t", "\n", "\r\n", "", ";c\n", "#_x "})
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		for range rapid.IntRange(1, 4).Draw(t, "maps") {
			b.WriteString(rapid.SampledFrom([]string{"", "", "#jepsen.history.Op", "[", "]"}).Draw(t, "before") + "{")
			for range rapid.IntRange(0, 6).Draw(t, "entries") {
				b.WriteString(names.Draw(t, "name") + between.Draw(t, "between") + values.Draw(t, "value") + between.Draw(t, "after"))
			}
			b.WriteString("}" + between.Draw(t, "then"))
		}
		sameQuickly(t, b.String())
	})
}

// TestQuickTakes wants the lines of recorders to be read quickly, else TestQuick compares nothing.
func TestQuickTakes(t *testing.T) {
	for _, text := range []string{`:index 3, :time 12, :type :ok, :value nil, :process 0, :owner "c0", :token 5}`, `:process 1 :type :invoke :f :cas :value [0 [3 4]]}`,
		`:process :nemesis, :type :info, :f :start, :value "cut", :time 3, :index 1}`, `:type :fail, :f :acquire, :error :timeout, :process 3, :token -1, :x (1 2)}`} {
		var s step
		p := &edn{source: sourceOf([]byte(text), 1, 1), table: new(wordTable)}
		if took := p.quickly(&s); took == strings.Contains(text, "-1") || took && p.pos != len(text) {
			t.Errorf("%s: %v, %d of %d bytes", text, took, p.pos, len(text))
		}
	}
}
