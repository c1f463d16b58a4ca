package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// nodeConfig is what a node's first process needs to know.
type nodeConfig struct {
	Node
	Root     string   // the root folder that all nodes copy
	Own      string   // folder of the node's own data, on the host
	Volumes  string   // folder of the run's volumes
	Withheld []string // devices of other nodes
	Bits     int
}

// Descriptors of a node's first process: its configuration, and where it says
// what went wrong; the latter closes when it has become the agent.
const (
	fdNodeConfig = 3
	fdNodeError  = 4
)

// startNode returns when the node's agent runs.
func (r *run) startNode(i int) (*exec.Cmd, error) {
	c := nodeConfig{Node: r.Nodes[i], Root: r.root, Bits: r.Bits,
		Own: filepath.Join(r.folder, "nodes", r.Nodes[i].Name), Volumes: filepath.Join(r.folder, "volumes")}
	for _, device := range slices.Compact(slices.Sorted(slices.Values(r.Devices))) {
		if !slices.Contains(c.Devices, device) && !slices.Contains(devices, device) {
			c.Withheld = append(c.Withheld, device)
		}
	}
	if err := r.makeFolders(c); err != nil {
		return nil, err
	}
	stdio := r.stdio[i]
	cmd := exec.Command(filepath.Join(r.root, Binary), Command, "node")
	cmd.Args[0] = Name
	cmd.Env = r.Nodes[i].Env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdio[0], stdio[1], stdio[2]
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC,
	}
	err := launch(cmd, i, c)
	for _, f := range stdio {
		_ = f.Close() // the node has its own; ours would hide its end
	}
	return cmd, err
}

// nodeFiles are the nodes' ends of the runner's pipes. All are taken before any
// process starts: one that inherited another node's pipe would hide its end.
func nodeFiles(nodes int) ([][3]*os.File, error) {
	files := make([][3]*os.File, nodes)
	for i := range files {
		for n, name := range []string{"stdin", "stdout", "stderr"} {
			var err error
			if files[i][n], err = inherit(fdNodes+3*i+n, name); err != nil {
				return nil, err
			}
		}
	}
	return files, nil
}

// launch starts the process, connects it, tells it what it is, and waits until it
// has turned into the agent.
func launch(cmd *exec.Cmd, i int, c nodeConfig) error {
	configR, configW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer configW.Close()
	errorR, errorW, err := os.Pipe()
	if err != nil {
		return err
	}
	defer errorR.Close()
	cmd.ExtraFiles = []*os.File{configR, errorW}
	err = cmd.Start()
	_, _ = configR.Close(), errorW.Close()
	if err != nil {
		return fmt.Errorf("namespaces of a node: %w", err)
	}
	err = plug(i, cmd.Process.Pid)
	if err == nil {
		err = json.NewEncoder(configW).Encode(c)
	}
	_ = configW.Close()
	said, _ := io.ReadAll(errorR)
	if text := strings.TrimSpace(string(said)); text != "" && err == nil {
		err = errors.New(text)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	return err
}

// makeFolders makes what a node may write to. It lies on the host's disk: memory
// would be filled by etcd's logs, and nothing but the node's faults shall decide
// how slow a disk is.
func (r *run) makeFolders(c nodeConfig) error {
	folders := []string{"tmp", "run/lock"}
	for _, f := range dataFolders {
		folders = append(folders, "var/"+f)
	}
	for _, f := range folders {
		if err := os.MkdirAll(filepath.Join(c.Own, f), 0o755); err != nil {
			return err
		}
	}
	for name, to := range map[string]string{"run": "/run", "lock": "/run/lock"} {
		if err := os.Symlink(to, filepath.Join(c.Own, "var", name)); err != nil {
			return err
		}
	}
	return r.copyDatabase(c)
}
