package outside

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// entrySize is one entry of a file: its number, noise made of it, and a checksum.
const entrySize = 512

func entry(n int64) []byte {
	b := make([]byte, entrySize)
	binary.LittleEndian.PutUint64(b, uint64(n))
	for i := 8; i < entrySize-4; i++ {
		b[i] = byte(n>>(i%8) + int64(i))
	}
	binary.LittleEndian.PutUint32(b[entrySize-4:], crc32.ChecksumIEEE(b[:entrySize-4]))
	return b
}

// whole counts the entries that stand where they belong.
func whole(data []byte) (n int64) {
	for i := 0; (i+1)*entrySize <= len(data); i++ {
		b := data[i*entrySize : (i+1)*entrySize]
		if binary.LittleEndian.Uint64(b) == uint64(i) && crc32.ChecksumIEEE(b[:entrySize-4]) == binary.LittleEndian.Uint32(b[entrySize-4:]) {
			n++
		}
	}
	return n
}

// The files of one life of the program, by their names; those of an earlier life are looked at and removed.
const (
	syncedFile  = "synced"  // each entry is fsynced, and told then
	writtenFile = "written" // its name is synced, and of its entries none
	unnamedFile = "unnamed" // its folder is never synced, nor is it
	syncFile    = "sync"    // written before the others and never fsynced, nor is its folder: then sync is called, once
	syncfsFile  = "syncfs"  // the same with syncfs
)

// disk tells what is left of the last life, fills the disk once, and writes for ever.
func disk(folder string) error {
	for _, name := range []string{syncedFile, writtenFile, unnamedFile, syncFile, syncfsFile} {
		data, err := os.ReadFile(filepath.Join(folder, name))
		r := Record{Who: name, What: Found, N: whole(data), M: int64(len(data))}
		if errors.Is(err, os.ErrNotExist) {
			r.N = -1
		} else if err != nil {
			return err
		}
		r.print()
		if err := os.Remove(filepath.Join(folder, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := fill(folder); err != nil {
		return err
	}
	if err := everything(folder); err != nil {
		return err
	}
	files := map[string]*os.File{}
	for _, name := range []string{syncedFile, writtenFile} {
		f, err := os.Create(filepath.Join(folder, name))
		if err == nil {
			err = f.Sync()
		}
		if err != nil {
			return err
		}
		files[name] = f
	}
	if err := syncFolder(folder); err != nil {
		return err
	}
	unnamed, err := os.Create(filepath.Join(folder, unnamedFile))
	if err != nil {
		return err
	}
	files[unnamedFile] = unnamed
	return write(files)
}

// SyncedAtOnce is how many entries sync and syncfs make durable at once.
const SyncedAtOnce = 20

// everything writes two files that nothing but sync, and syncfs, makes durable. It is done before the files are begun that
// must be lost, as these calls keep all there is.
func everything(folder string) error {
	for _, name := range []string{syncFile, syncfsFile} {
		f, err := os.Create(filepath.Join(folder, name))
		if err != nil {
			return err
		}
		defer f.Close()
		for n := range int64(SyncedAtOnce) {
			if _, err := f.Write(entry(n)); err != nil {
				return err
			}
		}
		if name == syncFile {
			unix.Sync()
		} else if err := unix.Syncfs(int(f.Fd())); err != nil {
			return err
		}
	}
	return nil
}

// mostEntries bounds the files: a disk of memory is small.
const mostEntries = 4000

func write(files map[string]*os.File) error {
	for n := int64(0); n < mostEntries; n++ {
		for _, f := range files {
			if _, err := f.Write(entry(n)); err != nil {
				return err
			}
		}
		Record{Who: writtenFile, What: Written, N: n}.print()
		from := raw(unix.CLOCK_MONOTONIC)
		if err := files[syncedFile].Sync(); err != nil {
			return err
		}
		Record{Who: syncedFile, What: Synced, N: n}.print()
		Record{Who: syncedFile, What: Fsync, From: from}.print()
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// fill writes until the disk is full, which a file system says with ENOSPC, and makes room again.
func fill(folder string) error {
	var about unix.Statfs_t
	if err := unix.Statfs(folder, &about); err != nil || about.Blocks*uint64(about.Bsize) > 64<<20 {
		Record{Who: "disk", What: Unable, Text: fmt.Sprintf("no small disk to fill (%v)", err)}.print()
		return nil
	}
	path := filepath.Join(folder, "filler")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	block := []byte(strings.Repeat("x", 1<<16))
	var n int64
	for err == nil {
		var k int
		k, err = f.Write(block)
		n += int64(k)
	}
	Record{Who: "disk", What: Full, N: n, M: int64(about.Bfree) * about.Bsize, Text: err.Error()}.print()
	return errors.Join(os.Remove(path), syncFolder(folder))
}

func syncFolder(folder string) error {
	d, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
