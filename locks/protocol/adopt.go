package protocol

import "golang.org/x/sys/unix"

// Adopt makes this process the parent of all that adapters leave behind, so that a
// pause or a kill of it finds them below it. A worker calls it once.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }
