package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// What a library prints goes to the log and breaks no record.
func TestStrayPrintBreaksNoRecord(t *testing.T) {
	if os.Getenv("DLMTEST_STRAY") != "" {
		records, err := ownOutput()
		if err != nil {
			t.Fatal(err)
		}
		fmt.Print("DEBUG ")
		fmt.Fprintln(records, `{"op":{}}`)
		_ = exec.Command("sh", "-c", "echo of a child").Run() // its output is nobody's
		sh := exec.Command("sh", "-c", "echo of a child that prints where we do")
		sh.Stdout = os.Stdout
		_ = sh.Run()
		os.Exit(0)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestStrayPrintBreaksNoRecord$")
	cmd.Env = append(os.Environ(), "DLMTEST_STRAY=1")
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	if out.String() != "{\"op\":{}}\n" || log.String() != "DEBUG of a child that prints where we do\n" {
		t.Errorf("%q, log %q", &out, &log)
	}
}
