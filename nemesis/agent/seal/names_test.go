package seal

import (
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestChange(t *testing.T) {
	if names[unix.CAP_SYS_ADMIN] != "SYS_ADMIN" || names[unix.CAP_SETFCAP] != "SETFCAP" || len(names) != unix.CAP_LAST_CAP+1 {
		t.Fatalf("%d names, the kernel has %d", len(names), unix.CAP_LAST_CAP+1)
	}
	root := Server(Users, 0, 0)
	for name, c := range map[string]struct {
		add, drop []string
		want      []int
	}{
		"nothing":       {nil, nil, ForRoot},
		"one more":      {[]string{"cap_ipc_lock"}, nil, append(slices.Clone(ForRoot), unix.CAP_IPC_LOCK)},
		"one less":      {nil, []string{"CHOWN"}, ForRoot[1:]},
		"none":          {nil, []string{"ALL"}, nil},
		"one alone":     {[]string{"CHOWN"}, []string{"ALL"}, []int{unix.CAP_CHOWN}},
		"never KILL":    {[]string{"KILL"}, []string{"ALL"}, nil},
		"not even so":   {[]string{"ALL"}, []string{"ALL"}, slices.DeleteFunc(numbers([]string{"ALL"}), func(c int) bool { return c == unix.CAP_KILL })},
		"what is there": {[]string{"CHOWN"}, nil, ForRoot},
	} {
		if got := root.Change(c.add, c.drop).Keep; !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if got := Server(Users, 5, 5).Change([]string{"ALL"}, nil).Keep; len(got) > 0 {
		t.Errorf("a user that is not root keeps %v", got)
	}
	if len(ForRoot) != 6 {
		t.Errorf("%v was changed", ForRoot)
	}
}
