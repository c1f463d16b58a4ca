package vdso

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHand: temporary. HAND_ARGV run under a page; commands on stdin.
func TestHand(t *testing.T) {
	argv := os.Getenv("HAND_ARGV")
	if argv == "" {
		t.Skip()
	}
	p, err := NewPage()
	if err != nil { t.Fatal(err) }
	cmd := exec.Command("sh", "-c", argv)
	if os.Getenv("HAND_LOG") == "" { f, _ := os.Create("/tmp/victim.log"); cmd.Stdout, cmd.Stderr = f, f } else { cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr }
	if u := os.Getenv("HAND_UID"); u != "" {
		n, _ := strconv.Atoi(u)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uint32(n), Gid: uint32(n)}}
	}
	proc, err := Start(cmd, p)
	if err != nil { t.Fatal(err) }
	ended := make(chan error, 1)
	go func() { ended <- proc.Wait(); fmt.Println("VICTIM ENDED", cmd.ProcessState) }()
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		f := strings.Fields(in.Text())
		if len(f) == 0 { continue }
		switch f[0] {
		case "step": d, _ := time.ParseDuration(f[1]); _, err = p.Set(Skew{Step: d}); fmt.Println("set", f, err)
		case "drift": d, _ := strconv.ParseFloat(f[1], 64); _, err = p.Set(Skew{Drift: d}); fmt.Println("set", f, err)
		case "settle": b := time.Now(); err = proc.Settle(); n, e2 := p.Attached(); fmt.Println("settle", err, time.Since(b), "execs", proc.Execs(), "attached", n, e2)
		case "attached": fmt.Println(p.Attached())
		case "sleep": d, _ := time.ParseDuration(f[1]); time.Sleep(d)
		case "sh": b, err := exec.Command("sh", "-c", strings.Join(f[1:], " ")).CombinedOutput(); fmt.Println(strings.TrimSpace(string(b)), err)
		case "probe": r, err := p.Probe(role("report")); m, rr := r.Offsets(); fmt.Println("probe", m, rr, err)
		}
	}
	_ = cmd.Process.Kill()
	select { case <-ended: case <-time.After(5*time.Second): fmt.Println("NOT ENDED") }
}
