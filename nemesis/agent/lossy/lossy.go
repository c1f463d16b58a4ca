// Package lossy is a file system that can lose power. Servers see an ordinary
// folder; Crash takes away what they never made durable with fsync, as a real
// power cut may, and Stall makes their fsync hang, as a real disk may.
//
// # How
//
// It is FUSE over a backing folder. Every change goes to the backing folder at
// once, so reads, sizes and listings need no second copy of anything, and what
// would undo the change goes to memory. An fsync forgets the undo; a crash
// carries it out, newest first. Three things follow from keeping undo rather
// than the new data: memory is bounded by the durable bytes that were
// overwritten (an append costs 100 bytes, whatever its length; what a long
// truncation takes away goes to a file instead), a clean stop has
// nothing to flush, and if this very process dies nothing is lost at all, so a
// fault of the harness is never mistaken for a fault of the server.
//
// # What survives a crash
//
//   - A file's bytes, size, mode and owner as of its last fsync, fdatasync or
//     O_SYNC write. Nothing later: POSIX promises no more, and a kernel that
//     wrote more back was merely kind.
//   - A folder's entries as of its last fsync. A rename is one transaction even
//     between two folders: an fsync of either makes both ends durable, for every
//     file system in use has that, and a half done rename could not be stored.
//   - The names of a file whose own fsync or fdatasync has returned: new, renamed or
//     linked, with the names of the folders above it (Options.Strict: not without an
//     fsync of the folder). POSIX does not promise it, but ext4, xfs and btrfs all do
//     it, as their journals keep order, and servers rely on it; a loss there would be
//     an argument about POSIX and not a finding about the lock. A rename that no fsync
//     of the file or of a folder followed is lost: forgetting that is a common bug.
//
// Files are independent of each other, so a later write to one may survive when
// an earlier write to another does not; with Torn that goes for the pages of one
// file, too. Times (mtime) are not rolled back. sync_file_range keeps nothing, as its
// manual says: it writes no metadata and no disk cache. sync and syncfs keep everything where the
// program is sealed with Orders.Syncs, and nothing elsewhere.
//
// # The kernel's page cache
//
// The mount uses it for reading and not for writing (FUSE's write-through mode):
// write(2) returns after this process has the bytes, so "unsynced" is known
// exactly, write by write. The writeback cache was tried: a write that nobody
// syncs gets ten times cheaper, but each fsync dearer by the SETATTR of the mtime
// that it then sends, and locks live on fsync; and the kernel decides in which
// order, cut at which page, the writes come, so a torn crash would tear what the
// server never wrote. Reads and mmap share the cached pages, and a
// write-through write updates them, so a read-only shared mapping (bbolt's)
// sees it at once. A writable shared mapping does dirty pages out of our sight:
// msync, fsync, munmap and close send them as writes before the fsync is sent, so
// what was synced is durable; what never came is lost with the mount, as it
// should be. All changes come through the one mount, so nothing has to be
// invalidated, and a crash ends the mount so that no page survives it.
package lossy

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Mode is what a crash takes.
type Mode string

// The modes.
const (
	// LoseUnsynced takes all that was not made durable.
	LoseUnsynced Mode = "lose-unsynced"
	// Torn takes a random part of it. Of each file a prefix of its unsynced writes
	// survives, and of the writes that come next either the first sectors of one (512
	// bytes: half a write is what checksums in logs are for), or what each page was at
	// some moment of its own, as a kernel writes pages in any order. Of the changes of
	// folders a prefix survives, one for all, as file systems have one journal.
	Torn Mode = "torn"
	// LoseAll takes everything: the disk is gone.
	LoseAll Mode = "lose-all"
)

// Options says what to serve, and where.
type Options struct {
	Backing string // the folder with the data; may be the same as Mount
	Mount   string // where servers see it

	Mode       Mode       // of a Crash that names none; empty: LoseUnsynced
	Seed       uint64     // of Torn
	Strict     bool       // a new file's entry needs an fsync of its folder
	AllowOther bool       // other users than the one that serves may use it
	Held       func(Held) // told of each call that a stall held, when it goes on; may be nil
}

// Loss says what a crash took.
type Loss struct {
	Mode    Mode     `json:"mode"`
	Files   int      `json:"files"`           // files that lost bytes, size, mode or themselves
	Writes  int      `json:"writes"`          // writes, truncations and the like, in whole or in part
	Bytes   int64    `json:"bytes"`           // bytes of those writes; lose-all: of all files
	Entries int      `json:"entries"`         // creations, renames and removals undone; lose-all: all entries
	Names   []string `json:"names,omitempty"` // the first of the files and entries, relative to the mount
}

// FS is a mounted file system.
type FS struct {
	opts   Options
	vol    *volume
	server *fuse.Server
	conn   string // the number of the FUSE connection in /sys/fs/fuse/connections
	ended  chan struct{}

	mu   sync.Mutex
	over bool
	stop func() bool
}

// ErrOver says that the file system has crashed or was closed before.
var ErrOver = errors.New("lossy: the file system has ended; serve it anew")

// Serve mounts a lossy file system. It ends with Crash or Close, or is closed
// when ctx is done. Afterwards the same folder can be served again.
func Serve(ctx context.Context, o Options) (*FS, error) {
	if o.Mode == "" {
		o.Mode = LoseUnsynced
	}
	if err := o.Mode.check(); err != nil {
		return nil, err
	}
	// A mount that an earlier process left dead answers every call with ENOTCONN.
	if err := Detach(o.Mount); err != nil {
		return nil, err
	}
	vol, err := openVolume(o)
	if err != nil {
		return nil, err
	}
	f := &FS{opts: o, vol: vol, ended: make(chan struct{})}
	if err := f.mount(); err != nil {
		vol.close()
		return nil, err
	}
	f.stop = context.AfterFunc(ctx, func() { _ = f.Close() })
	return f, nil
}

func (m Mode) check() error {
	switch m {
	case LoseUnsynced, Torn, LoseAll:
		return nil
	}
	return fmt.Errorf("lossy: unknown mode %q: want %s, %s or %s", m, LoseUnsynced, Torn, LoseAll)
}

// Crash takes what mode says (empty: Options.Mode) and ends the mount: every
// process that still has files of it open gets errors. Once Crash has begun
// no fsync succeeds any more; one that succeeded before is kept. The caller kills
// the server first, or it may see its files fail.
func (f *FS) Crash(mode Mode) (Loss, error) {
	if mode == "" {
		mode = f.opts.Mode
	}
	if err := mode.check(); err != nil {
		return Loss{}, err
	}
	if !f.end() {
		return Loss{}, ErrOver
	}
	loss, err := f.vol.crash(mode)
	return loss, errors.Join(err, f.teardown())
}

// Close ends the mount and loses nothing: what writable mappings still hold in
// the kernel is fetched first, for at most a few seconds.
func (f *FS) Close() error {
	if !f.end() {
		return nil
	}
	f.vol.barrier.open()
	err := f.unmountClean()
	f.vol.close()
	return err
}

// end says whether the caller is the one to end f.
func (f *FS) end() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	first := !f.over
	f.over = true
	if first && f.stop != nil {
		f.stop()
	}
	return first
}

// Sync makes all that has reached this process durable, as sync(2) and syncfs(2) of a sealed server do, see notice. It also
// stands for the time before the test: a real kernel writes everything back
// within half a minute or so, and ZooKeeper, which never syncs its snapshots,
// refuses to start when its log is there and the first snapshot is not.
func (f *FS) Sync() error { return f.vol.syncAll() }

// Stall holds calls as s says until its time is over or Resume. A second Stall
// replaces the first; what the first held stays held.
func (f *FS) Stall(s Stall) error { return f.vol.barrier.shut(s) }

// Resume lets everything go on, and says what was held since Stall.
func (f *FS) Resume() Stalled { return f.vol.barrier.open() }

// Done is closed when the mount has ended, whoever ended it.
func (f *FS) Done() <-chan struct{} { return f.ended }

// await waits for c, but not for longer than d.
func await(c <-chan struct{}, d time.Duration) bool {
	select {
	case <-c:
		return true
	case <-time.After(d):
		return false
	}
}

// checkFolder says plainly what is wrong with a folder that cannot be used.
func checkFolder(what, path string) error {
	i, err := os.Stat(path)
	if err == nil && !i.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return fmt.Errorf("lossy: %s %s: %w", what, path, err)
	}
	return nil
}
