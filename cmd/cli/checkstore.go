package cli

import (
	"io/fs"
	"os"
	"path/filepath"
)

// isStore says whether a folder is one that Jepsen stored.
func isStore(dir string) bool {
	return dir != "-" && (storedHistory(dir) != "" || len(etcdFiles(dir)) > 0)
}

// historyIn is the history that a folder stands for: Jepsen's, that of etcd's clients,
// which is the folder itself, or that of a run.
func historyIn(dir string) string {
	if stored := storedHistory(dir); stored != "" {
		return stored
	}
	if len(etcdFiles(dir)) > 0 {
		return dir
	}
	return filepath.Join(dir, "history.jsonl")
}

// etcdFiles are what the clients of etcd's robustness tests recorded, each its own part, by their ways below a folder.
func etcdFiles(dir string) []string {
	files, _ := fs.Glob(os.DirFS(dir), "client-*/operations.json") // fails only for a bad pattern
	more, _ := fs.Glob(os.DirFS(dir), "client-*/operations.json"+packedAs)
	return append(files, more...)
}

// storedNames are the names of histories in a folder of Jepsen's, the best first.
var storedNames = []string{"history.edn", "test.jepsen", "history.txt", "jepsen.log"}

// packedAs is what gzip adds to the name of what it packs.
const packedAs = ".gz"

// storedHistory is the history in a folder of Jepsen's, which may be packed; empty: there is none.
func storedHistory(dir string) string {
	for _, name := range storedNames {
		for _, path := range []string{filepath.Join(dir, name), filepath.Join(dir, name+packedAs)} {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path
			}
		}
	}
	return ""
}
