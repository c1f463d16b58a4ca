package agent

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// account resolves a user as images write it: name, uid, name:group, uid:gid. Empty: who
// the agent is.
func account(name string) (uid, gid int, err error) {
	if name == "" || name == "root" || name == "0" {
		return os.Geteuid(), os.Getegid(), nil
	}
	owner, group, grouped := strings.Cut(name, ":")
	entry, err := entryOf("/etc/passwd", owner, 4)
	if err != nil {
		return 0, 0, fmt.Errorf("user %q of the image: %w", name, err)
	}
	ids := []string{owner, owner} // an image may name a uid that has no entry
	if entry != nil {
		ids = entry[2:4]
	}
	if grouped {
		if entry, err = entryOf("/etc/group", group, 3); err != nil {
			return 0, 0, fmt.Errorf("user %q of the image: %w", name, err)
		}
		if ids[1] = group; entry != nil {
			ids[1] = entry[2]
		}
	}
	id, err1 := strconv.ParseUint(ids[0], 10, 32)
	groupID, err2 := strconv.ParseUint(ids[1], 10, 32)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("user %q of the image: cannot be resolved to numbers", name)
	}
	return int(id), int(groupID), nil
}

// entriesMax is how much of a file of users is read: the image has made it.
const entriesMax = 1 << 20

// entryOf finds an entry by its name, or else by its number, in a file of so many fields at least. No file, no entry: nil.
// It waits for no pipe.
func entryOf(path, name string, fields int) (found []string, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil //nolint:nilerr // an image need not have one
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("its %s is no file", path)
	}
	lines := bufio.NewScanner(io.LimitReader(f, entriesMax))
	for lines.Scan() {
		entry := strings.Split(lines.Text(), ":")
		if len(entry) < fields || !slices.Contains([]string{entry[0], entry[2]}, name) {
			continue
		}
		if entry[0] == name {
			return entry, nil
		}
		if found == nil {
			found = entry
		}
	}
	return found, nil
}
