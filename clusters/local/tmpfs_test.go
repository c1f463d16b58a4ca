package local

import (
	"strings"
	"testing"
)

// No file system in memory is as large as the kernel likes.
func TestTmpfsHasASize(t *testing.T) {
	for _, m := range []Mount{{}, {Mode: 0o700}, {Size: 4096}} {
		if o := m.tmpfs(); !strings.Contains(o, ",nr_inodes=") || !strings.Contains(o, ",size=") || m.Size > 0 && !strings.HasSuffix(o, ",size=4096") {
			t.Errorf("%+v: %q", m, o)
		}
	}
}
