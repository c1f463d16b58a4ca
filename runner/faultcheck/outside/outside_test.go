package outside

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What measures the faults shares no code with what injects and proves them.
func TestSharesNothingWithTheAgent(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		ours := strings.HasPrefix(path, "github.com/dlmtest/dlmtest/")
		if ours && path != "github.com/dlmtest/dlmtest/runner/faultcheck/outside" && path != "github.com/dlmtest/dlmtest/locks/protocol/adapter" {
			t.Errorf("it imports %s", path)
		}
	}
}

// Records survive what else stands in a log, and a line that a kill has torn is counted.
func TestParse(t *testing.T) {
	log := "a server's own line\noutside {\"at\":5,\"who\":\"main\",\"what\":\"beat\"}\n12:00 outside {\"at\":7,\"who\":\"child\",\"what\":\"gap\",\"from\":6}\noutside {\"at\":9,\"wh\n"
	all, torn := Parse([]byte(log))
	if len(all) != 2 || torn != 1 || all[0].What != Beat || all[1].From != 6 {
		t.Errorf("%+v, %d torn", all, torn)
	}
}

// An entry counts only where it belongs and as it was written.
func TestWhole(t *testing.T) {
	data := append(append(entry(0), entry(1)...), entry(2)...)
	if n := whole(data); n != 3 {
		t.Errorf("%d of 3", n)
	}
	for name, spoil := range map[string]func([]byte){
		"a byte":    func(b []byte) { b[700]++ },
		"moved":     func(b []byte) { copy(b[512:], entry(2)) },
		"a hole":    func(b []byte) { clear(b[512:1024]) },
		"one twice": func(b []byte) { copy(b[512:], entry(0)) },
	} {
		bad := append([]byte{}, data...)
		spoil(bad)
		if n := whole(bad); n != 2 {
			t.Errorf("%s: %d of 2", name, n)
		}
	}
	if n := whole(data[:1000]); n != 1 {
		t.Errorf("cut short: %d of 1", n)
	}
}

// Clocks that nothing bends read the truth, and a disk that is not small is not filled.
func TestReading(t *testing.T) {
	for range 100 {
		if r, ok := reading("test"); ok {
			if r.N < -closest || r.N > closest || r.M < -closest || r.M > closest {
				t.Errorf("off by %d and %d ns", r.N, r.M)
			}
			return
		}
	}
	t.Skip("this machine did not let a thread read two clocks in a row")
}

// The C program is what a compiler takes, where there is one.
func TestC(t *testing.T) {
	if _, err := exec.LookPath("gcc"); err != nil {
		t.Skip("no gcc")
	}
	to := filepath.Join(t.TempDir(), "clocks")
	if out, err := exec.Command("gcc", "-Wall", "-Werror", "-pthread", "-o", to, "c/clocks.c").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if _, err := os.Stat(to); err != nil {
		t.Fatal(err)
	}
}
