package runner

import (
	"errors"
	"strings"
	"testing"

	"github.com/dlmtest/dlmtest/locks/libraries"
)

func TestNotInstalled(t *testing.T) {
	l, err := libraries.Get("kazoo")
	if err != nil {
		t.Fatal(err)
	}
	err = notInstalled(l, "kazoo", "2.9", "2.8.0")
	if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), "--library kazoo@2.9: the clients' nodes have version 2.8.0, which comes with Debian's python3-kazoo. What to do: --library kazoo@2.8.0") {
		t.Error(err)
	}
}
