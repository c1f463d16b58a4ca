package seal

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is a command that is looked for where its own environment says, and not where that of this process does.
// What an image says of the environment is for its programs: Go heeds GODEBUG and its like, and database clients PGOPTIONS.
func Program(ctx context.Context, env, argv []string) *exec.Cmd {
	path, err := look(env, argv[0])
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Args[0], cmd.Env = argv[0], env
	if err != nil {
		cmd.Err = err
	}
	return cmd
}

// look finds a program as a shell does: a name with a slash is a path.
func look(env []string, name string) (path string, err error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	folders := ""
	for _, v := range env {
		if is, found := strings.CutPrefix(v, "PATH="); found {
			folders = is
		}
	}
	for _, folder := range filepath.SplitList(folders) {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path)
		if filepath.IsAbs(folder) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return name, &exec.Error{Name: name, Err: exec.ErrNotFound}
}
