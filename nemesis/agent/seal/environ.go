package seal

import (
	"errors"
	"io"
	"os"
	"strings"
)

// The environment of a program passes by a pipe and is never that of the helper, which runs before anything is sealed:
// Go heeds GODEBUG and its like, and where this binary is linked to the C library, as go install does it, the machine's
// loader runs whatever LD_PRELOAD names. Arguments would be in everybody's view.

// between parts variables, as the kernel does.
const between = "\x00"

// tell writes the environment. Who has ended needs none.
func (p pipes) tell() {
	_, _ = io.WriteString(p.envW, strings.Join(p.env, between))
	_ = p.envW.Close()
}

// told reads the environment from its descriptor.
func told(descriptor int) ([]string, error) {
	from := os.NewFile(uintptr(descriptor), "environment")
	text, err := io.ReadAll(from)
	if err = errors.Join(err, from.Close()); err != nil {
		return nil, refused("read its environment", err)
	}
	if len(text) == 0 {
		return nil, nil
	}
	return strings.Split(string(text), between), nil
}
