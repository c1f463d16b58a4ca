package lossy

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// hold keeps unlinked files of a mount open until it is killed.
func hold(dir string) {
	for i := range 400 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			panic(err)
		}
		if _, err := f.WriteString("nobody's"); err != nil {
			panic(err)
		}
		if i%2 == 0 { // some have been durable
			_ = f.Sync()
		}
		held = append(held, f)
		_ = os.Remove(f.Name())
	}
	fmt.Println("ready")
	select {}
}

var held []*os.File // or the garbage collector would close them

func isZombie(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(text, []byte(") Z "))
}

// TestCrashWhileAKilledProcessEnds does what the agent does: SIGKILL, then the crash at once,
// while the kernel still closes what the process held.
func TestCrashWhileAKilledProcessEnds(t *testing.T) {
	for range 4 {
		m := mountAt(t, nil)
		for i := range 300 { // much to undo: the crash takes as long as the end of the process
			m.ok(os.WriteFile(m.path(fmt.Sprint("dirty", i)), []byte("unsynced"), 0o600))
		}
		m.ok(m.write("kept", "durable").Sync())
		m.write("kept", "torn")
		m.ok(os.Mkdir(m.path("d"), 0o777))
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "LOSSY_HOLD="+m.path("d"))
		out, err := cmd.StdoutPipe()
		m.ok(err)
		m.ok(cmd.Start())
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		m.ok(cmd.Process.Kill())
		for !isZombie(cmd.Process.Pid) { // then the kernel has begun to close its files
			runtime.Gosched()
		}
		if loss := m.crash(""); loss.Files < 300 {
			t.Errorf("%+v", loss)
		}
		m.want("kept", "durable")
		_ = cmd.Wait()
		m.ok(m.fs.Close())
	}
}
