package clusters

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

func lookDevice(x *examined, at place, value any) { x.reach(at, "the device %q", text(value)) }

// lookDeviceTarget wants what lookDevice has seen: a device has one name.
func lookDeviceTarget(x *examined, at place, value any) {
	if !strings.HasPrefix(text(value), "/dev/") {
		x.problem(at, "dlmtest does not support %q: a device is found where it is on the host, below /dev", text(value))
	}
}

func lookTarget(x *examined, at place, value any) {
	if err := placeable(text(value)); err != nil {
		x.problem(at, "%v", err)
	}
}

// placeable refuses paths by which a node's own agent is started. Where links lead is seen when
// there is a node.
func placeable(target string) error {
	switch {
	case !path.IsAbs(target):
		return fmt.Errorf("%q: want a path from the node's /", target)
	case seal.Kept(target):
		return fmt.Errorf("%q: a node is started by what lies there, which no file of yours can replace; take another path", target)
	}
	return nil
}

// plainName is what Docker takes for the name of a volume. Another, such as "..", is a path.
var plainName = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]*$`)

// lookVolumes looks at the mounts of a service.
func lookVolumes(x *examined, at place, value any) {
	all, _ := value.([]any)
	for _, v := range all {
		m, _ := v.(map[string]any)
		switch source := text(m["source"]); {
		case m["type"] == "bind":
			x.bind(at, source, m["read_only"] == true)
		case m["type"] == "volume" && source != "" && !plainName.MatchString(source):
			x.problem(at, "%q is no name of a volume: begin it with a letter or a digit", source)
		}
	}
}

// bind lets pass what is read of files beside the compose file.
func (x *examined) bind(at place, source string, readOnly bool) {
	real, inside, err := x.inside(source)
	if err != nil {
		x.problem(at, "the bind mount of %q: %v", source, err)
		return
	}
	var why []string
	if !inside {
		why = append(why, "is not below the compose file's folder")
	}
	if !readOnly {
		why = append(why, "can be written (add :ro, or use a volume)")
	}
	if info, err := os.Stat(real); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		why = append(why, "is a socket, a pipe or a device")
	} else if found := Lives(real, mostBound); inside && found != "" {
		why = append(why, found)
	}
	if len(why) > 0 {
		x.reach(at, "the bind mount of %q, which %s", real, strings.Join(why, " and "))
	}
}

// Lives is what a node could talk to through a folder that it only reads; "": nothing, among
// at most so many files. A link leads to a file of the node's own.
func Lives(folder string, most int) (what string) {
	seen := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		seen++
		switch {
		case err != nil:
			return err
		case seen > most:
			what = fmt.Sprintf("has more than %d files, too many to look for sockets among them", most)
		case entry.Type()&(fs.ModeSocket|fs.ModeNamedPipe|fs.ModeDevice) != 0:
			what = fmt.Sprintf("has a socket, a pipe or a device in it, %q", path)
		default:
			return nil
		}
		return fs.SkipAll
	})
	if err != nil {
		return fmt.Sprintf("cannot be looked through (%v)", err)
	}
	return what
}

func lookTmpfs(x *examined, at place, value any) {
	for _, t := range list(value) {
		m, err := tmpfsOf(t)
		if err == nil {
			err = placeable(m.Target)
		}
		if err != nil {
			x.problem(at, "%v", err)
		}
	}
}

// tmpfsOf reads PATH:size=64m,mode=1777.
func tmpfsOf(words string) (Mount, error) {
	target, options, _ := strings.Cut(words, ":")
	m := Mount{Type: "tmpfs", Target: target}
	for _, option := range strings.FieldsFunc(options, func(c rune) bool { return c == ',' }) {
		name, value, _ := strings.Cut(option, "=")
		var err error
		switch name {
		case "size":
			m.Size, err = bytesOf(value)
		case "mode":
			var mode uint64
			mode, err = strconv.ParseUint(value, 8, 12)
			m.Mode = uint32(mode)
		default:
			err = fmt.Errorf("dlmtest does not support %q; size and mode are", option)
		}
		if err != nil {
			return m, fmt.Errorf("%q: %w", words, err)
		}
	}
	return m, nil
}

// bytesOf reads 65536, 64k, 64m or 1g, as Docker does.
func bytesOf(words string) (int64, error) {
	number := strings.TrimRight(strings.ToLower(words), "bkmg")
	unit := map[string]int64{"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": 1 << 20, "mb": 1 << 20, "g": 1 << 30,
		"gb": 1 << 30}[strings.ToLower(words[len(number):])]
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n <= 0 || unit == 0 {
		return 0, fmt.Errorf("%q is no size; write it as 64m", words)
	}
	return n * unit, nil
}
