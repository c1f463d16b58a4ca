package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kernelProbes try what the kernel keeps for all: clocks, its settings, and what nodes could share but the network.
var kernelProbes = []probe{
	{"clock-settime", func() (string, error) {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_REALTIME, &now); err != nil {
			return "", err
		}
		return "the clock", unix.ClockSettime(unix.CLOCK_REALTIME, &now)
	}},
	{"settimeofday", func() (string, error) {
		var now unix.Timeval
		if err := unix.Gettimeofday(&now); err != nil {
			return "", err
		}
		return "the clock", unix.Settimeofday(&now)
	}},
	{"clock-adjtime", func() (string, error) {
		t := unix.Timex{Modes: 0x4000, Tick: 10000} // ADJ_TICK, to what it is nearly everywhere
		_, err := unix.ClockAdjtime(unix.CLOCK_REALTIME, &t)
		return "the clock", err
	}},
	{"io-uring", func() (string, error) {
		var params [120]byte
		return number(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
	}},
	{"userfaultfd", func() (string, error) {
		if err := opensToWrite("/dev/userfaultfd"); err == nil {
			return "/dev/userfaultfd", nil
		}
		return number(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1) // UFFD_USER_MODE_ONLY
	}},
	{"fanotify", func() (string, error) { return number(unix.SYS_FANOTIFY_INIT, 0, unix.O_RDONLY) }},
	{"every-proc-sys", func() (string, error) { return changesAny("/proc/sys", writesBack) }},
	{"every-sys", func() (string, error) { return changesAny("/sys", opensToWrite) }},
	{"cgroup-new", func() (string, error) {
		folders, _ := filepath.Glob("/sys/fs/cgroup/*")
		return any(append(folders, "/sys/fs/cgroup"), func(path string) error {
			path = filepath.Join(path, "escape")
			return errors.Join(os.Mkdir(path, 0o755), os.Remove(path))
		})
	}},
	{"neighbour", func() (string, error) { return "who answers for an address", onDevices(unix.SIOCSARP, arpEntry) }},
	{"hardware-address", func() (string, error) { return "another's frames", onDevices(unix.SIOCSIFHWADDR, sameDevice) }},
	{"own-address", func() (string, error) { return "another's address", onDevices(unix.SIOCSIFADDR, sameDevice) }},
	{"foreign-source", foreignSource},
	{"foreign-source6", foreignSource6},
	{"shared-queue", func() (string, error) {
		return met(func(client int, flags int) error {
			name, _ := unix.BytePtrFromString(fmt.Sprint("escape-", client)) // it has no NUL
			fd, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), uintptr(flags|unix.O_RDWR), 0o666, 0, 0, 0)
			if errno != 0 {
				return errno
			}
			return unix.Close(int(fd))
		})
	}},
	{"shared-segment", func() (string, error) {
		return met(func(client int, flags int) error {
			if flags != 0 {
				flags = unix.IPC_CREAT
			}
			_, err := unix.SysvShmGet(0x1e5ca00+client, 4096, flags) // with no right to it: another probe tries to attach all
			return err
		})
	}},
	{"shared-shm", sharedFile("/dev/shm")},
	{"shared-tmp", sharedFile("/tmp")},
	{"shared-run", sharedFile("/run")},
}

func number(call uintptr, arguments ...uintptr) (string, error) {
	var a [3]uintptr
	copy(a[:], arguments)
	fd, _, errno := unix.Syscall(call, a[0], a[1], a[2])
	if errno != 0 {
		return "", errno
	}
	return fmt.Sprint("file ", fd), unix.Close(int(fd))
}

// changesAny tries each file below a folder, for as long as a probe may take.
func changesAny(folder string, do func(path string) error) (string, error) {
	changed, tried, begun := "", 0, time.Now()
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if time.Since(begun) > 3*time.Second {
			return fs.SkipAll
		}
		if tried++; do(path) == nil {
			changed = path
			return fs.SkipAll
		}
		return nil
	})
	if changed == "" {
		return "", fmt.Errorf("none of %d", tried)
	}
	return changed, nil
}

// writesBack writes what is there: some files everybody may open, and nobody write.
func writesBack(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return opensToWrite(path)
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(text)
	return err
}

// met leaves something under the number of this client, and looks for a while for that of the other: who finds it there shares
// it with a client whom it should reach by the network alone.
func met(open func(client, flags int) error) (string, error) {
	var own, others []int
	for client := 1; client <= 2; client++ {
		if at, err := net.ResolveIPAddr("ip4", fmt.Sprint("client-", client)); err == nil && onDevice(at.IP) {
			own = append(own, client)
		} else {
			others = append(others, client)
		}
	}
	if len(own) != 1 {
		return "it does not know which client it is", nil
	}
	err := open(own[0], unix.O_CREAT)
	for begun := time.Now(); time.Since(begun) < 2*time.Second && err == nil; time.Sleep(50 * time.Millisecond) {
		if open(others[0], 0) == nil {
			return "what another client has made", nil
		}
	}
	if err == nil {
		err = errors.New("nobody else's is there")
	}
	return "", err
}

func onDevice(ip net.IP) bool {
	addrs, _ := net.InterfaceAddrs()
	return slices.ContainsFunc(addrs, func(a net.Addr) bool { own, _, _ := net.ParseCIDR(a.String()); return own.Equal(ip) })
}

func sharedFile(folder string) func() (string, error) {
	return func() (string, error) {
		return met(func(client, flags int) error {
			file, err := os.OpenFile(filepath.Join(folder, fmt.Sprint("escape-shared-", client)), flags|os.O_RDWR, 0o666)
			if err == nil {
				err = file.Close()
			}
			return err
		})
	}
}

// onDevices asks for one thing of each of the node's network devices.
func onDevices(call uintptr, fill func(device net.Interface, request []byte)) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	devices, _ := net.Interfaces()
	_, err = any(names(devices), func(name string) error {
		device, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		var request [80]byte
		fill(*device, request[:])
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), call, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
		return nil
	})
	return err
}

func names(devices []net.Interface) (all []string) {
	for _, d := range devices {
		all = append(all, d.Name)
	}
	return all
}

// sameDevice asks for what the device has: its first address, or that of its hardware.
func sameDevice(device net.Interface, request []byte) {
	copy(request[:15], device.Name)
	request[16] = unix.AF_INET
	if addrs, _ := device.Addrs(); len(addrs) > 0 {
		if ip, _, _ := net.ParseCIDR(addrs[0].String()); ip.To4() != nil {
			copy(request[20:24], ip.To4())
		}
	}
}

// arpEntry says that nobody's address of the node's network, its last but one, is at hardware of its own.
func arpEntry(device net.Interface, request []byte) {
	request[0] = unix.AF_INET
	if addrs, _ := device.Addrs(); len(addrs) > 0 {
		if ip, _, _ := net.ParseCIDR(addrs[0].String()); ip.To4() != nil {
			copy(request[4:8], ip.To4())
			request[7] = 253
		}
	}
	request[16] = 1                      // ARPHRD_ETHER
	copy(request[18:24], "\x02escap")    // an address that was made up
	request[32] = 2                      // ATF_COM
	copy(request[52:52+15], device.Name) // arp_dev
}

// foreignSource6 sends a packet over IPv6 from an address that is not the node's: there it needs no capability, and all
// that stands in the way is that no node has IPv6 on its network.
func foreignSource6() (string, error) {
	fd, err := unix.Socket(unix.AF_INET6, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	devices, _ := net.Interfaces()
	return any(names(devices), func(name string) error {
		device, err := net.InterfaceByName(name)
		if err != nil {
			return err
		}
		if device.Flags&net.FlagLoopback != 0 {
			return errors.New("its own loopback")
		}
		everybody, somebody := [16]byte{0: 0xff, 1: 0x02, 15: 1}, [16]byte{0: 0xfe, 1: 0x80, 15: 0x42}
		to := unix.SockaddrInet6{Port: 9, ZoneId: uint32(device.Index), Addr: everybody}
		from := unix.SockaddrInet6{ZoneId: uint32(device.Index), Addr: somebody}
		return errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_FREEBIND, 1), unix.Bind(fd, &from),
			unix.Sendto(fd, []byte("?"), 0, &to))
	})
}

// foreignSource sends a packet from an address that is not the node's.
func foreignSource() (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	server, err := net.ResolveIPAddr("ip4", "resource")
	if err != nil {
		return "", err
	}
	to := unix.SockaddrInet4{Port: 9, Addr: [4]byte(server.IP.To4())}
	from := unix.SockaddrInet4{Addr: to.Addr}
	transparent := unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TRANSPARENT, 1)
	err = errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_FREEBIND, 1), unix.Bind(fd, &from), unix.Sendto(fd, []byte("?"), 0, &to))
	if err != nil {
		err = errors.Join(transparent, err)
	}
	return "a packet in the name of the resource", err
}
