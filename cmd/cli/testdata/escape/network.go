package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/dlmtest/dlmtest/workloads/resource"
)

// RFC 5737 and RFC 3849 keep these for documentation. A connect of UDP asks for the route and sends nothing.
var outside = []string{"198.51.100.1:53", "203.0.113.1:53", "[2001:db8::1]:53"}

var networkProbes = []probe{
	{"abstract-socket", func() (string, error) {
		names := []string{"@" + *abstract}
		text, _ := os.ReadFile("/proc/net/unix")
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 8 && strings.HasPrefix(f[7], "@") {
				names = append(names, f[7])
			}
		}
		return any(names, dialUnix)
	}},
	{"machine-sockets", func() (string, error) { return any(strings.Split(*sockets, ","), dialUnix) }},
	{"docker-socket", func() (string, error) {
		return any([]string{"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock"}, dialUnix)
	}},
	{"any-socket", func() (string, error) { return any(socketFiles("/run", "/var", "/tmp"), dialUnix) }},
	{"raw-socket", func() (string, error) { return "raw packets", socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_TCP) }},
	{"raw-icmp", func() (string, error) { return "raw packets", socket(unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP) }},
	{"raw-icmp6", func() (string, error) {
		return "neighbour advertisements", socket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_ICMPV6)
	}},
	{"raw-ip6", func() (string, error) { return "raw packets", socket(unix.AF_INET6, unix.SOCK_RAW, unix.IPPROTO_RAW) }},
	{"old-packet-socket", func() (string, error) {
		return "frames", socket(unix.AF_INET, unix.SOCK_PACKET, 0x0300) // ETH_P_ALL
	}},
	{"route-neighbour", func() (string, error) {
		return "who answers for an address", onRoutes(unix.RTM_NEWNEIGH, make([]byte, unix.SizeofNdMsg))
	}},
	{"route-neighbour6", func() (string, error) {
		message := make([]byte, unix.SizeofNdMsg)
		message[0] = unix.AF_INET6
		return "who answers for an address", onRoutes(unix.RTM_NEWNEIGH, message)
	}},
	{"route-address6", func() (string, error) {
		message := make([]byte, unix.SizeofIfAddrmsg)
		message[0] = unix.AF_INET6
		return "another's address", onRoutes(unix.RTM_NEWADDR, message)
	}},
	{"packet-socket", func() (string, error) { return "frames", socket(unix.AF_PACKET, unix.SOCK_RAW, 0) }},
	{"packet-dgram", func() (string, error) { return "frames", socket(unix.AF_PACKET, unix.SOCK_DGRAM, 0) }},
	{"name-service", nameService},
	{"vsock", func() (string, error) { return "the machine's host", dialVsock() }},
	{"network-device", func() (string, error) {
		all, _ := net.Interfaces()
		var names []string
		for _, i := range all {
			names = append(names, i.Name)
		}
		return any(names, sameMTU)
	}},
	{"firewall", firewall},
	{"resource", writeResource},
	{"gateway", func() (string, error) { return any(gateways(), dial) }},
	{"machine-addresses", func() (string, error) { return any(strings.Split(*hosts, ","), dial) }},
	{"outside", outsideWorld},
}

// writeResource writes what it likes to the resource that the lock guards, which decides
// about lost updates.
func writeResource() (string, error) {
	client, err := resource.Dial("resource:7000")
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err = client.Write(ctx, resource.WriteRequest{Key: "key-1", Owner: *mark, Value: *mark})
	return "an update that nobody made", err
}

// outsideWorld looks for a route out of the node, and for somebody at its other end. What it
// sends goes no further than the node's own bridge.
func outsideWorld() (string, error) {
	return any(outside, func(address string) error {
		c, err := net.Dial("udp", address)
		if err != nil {
			return err
		}
		_ = c.Close()
		for _, hop := range hops() {
			if c, err := net.Dial("udp", hop+":9"); err == nil {
				_, _ = c.Write([]byte("?"))
				_ = c.Close()
			}
			time.Sleep(300 * time.Millisecond)
			neighbours, err := os.ReadFile("/proc/net/arp")
			for line := range strings.Lines(string(neighbours)) {
				if f := strings.Fields(line); err == nil && len(f) > 3 && f[0] == hop && f[3] != "00:00:00:00:00:00" {
					return nil
				}
			}
		}
		return errors.New("there is a route, and nobody at its other end")
	})
}

// hops are the gateways of the node's routes.
func hops() (all []string) {
	text, _ := os.ReadFile("/proc/net/route")
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 || f[2] == "00000000" {
			continue
		}
		if b, err := hex.DecodeString(f[2]); err == nil && len(b) == 4 {
			all = append(all, fmt.Sprintf("%d.%d.%d.%d", b[3], b[2], b[1], b[0]))
		}
	}
	return all
}

func dial(address string) error {
	c, err := net.DialTimeout("tcp", address, 400*time.Millisecond)
	if err == nil {
		_ = c.Close()
	}
	return err
}

func dialUnix(path string) error {
	c, err := net.DialTimeout("unix", path, time.Second)
	if err == nil {
		_ = c.Close()
	}
	return err
}

// gateways are the first and the last address of each of the node's networks, where a bridge
// has its own, and those of the routes, each with the port on which the machine listens.
func gateways() (all []string) {
	addrs, _ := net.InterfaceAddrs()
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err != nil || p.Addr().IsLoopback() || !p.Addr().Is4() {
			continue
		}
		all = append(all, fmt.Sprintf("%s:%d", p.Masked().Addr().Next(), *port))
		last := p.Masked().Addr().As4()
		number := binary.BigEndian.Uint32(last[:]) | (1<<(32-p.Bits()) - 1) - 1
		binary.BigEndian.PutUint32(last[:], number)
		all = append(all, fmt.Sprintf("%s:%d", netip.AddrFrom4(last), *port))
	}
	for _, hop := range hops() {
		all = append(all, fmt.Sprintf("%s:%d", hop, *port))
	}
	return append(all, fmt.Sprintf("172.17.0.1:%d", *port), fmt.Sprintf("host.docker.internal:%d", *port))
}

func socket(domain, kind, protocol int) error {
	fd, err := unix.Socket(domain, kind|unix.SOCK_CLOEXEC, protocol)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// nameService answers for names where a program asks that has no list of them. In Docker everybody may: there nothing of
// dlmtest's own asks for the name of what it trusts.
func nameService() (string, error) {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_unprivileged_port_start")
	if first, wrong := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && wrong == nil && first <= 53 {
		return "", errors.New("every user may, and nobody asks")
	}
	c, err := net.ListenPacket("udp", "127.0.0.1:53")
	if err == nil {
		_ = c.Close()
	}
	return "answers for names", err
}

// onRoutes asks the kernel for a change of addresses, and takes any answer but a refusal for one that would be made.
func onRoutes(kind uint16, message []byte) error {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request := binary.NativeEndian.AppendUint32(nil, uint32(unix.SizeofNlMsghdr+len(message)))
	request = binary.NativeEndian.AppendUint16(request, kind)
	request = binary.NativeEndian.AppendUint16(request, unix.NLM_F_REQUEST|unix.NLM_F_ACK)
	request = append(append(request, make([]byte, 8)...), message...)
	answer := make([]byte, 4096)
	if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return err
	}
	n, err := unix.Read(fd, answer)
	if err == nil && n >= unix.SizeofNlMsghdr+4 {
		if errno := unix.Errno(-int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:]))); errno == unix.EPERM {
			return errno
		}
	}
	return err
}

// dialVsock reaches, in a virtual machine, the machine that runs it.
func dialVsock() error {
	fd, err := unix.Socket(unix.AF_VSOCK, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd) // no traffic: that a socket is had is enough
}

// sameMTU changes nothing: it sets what is set.
func sameMTU(name string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request := struct {
		name [16]byte
		mtu  int32
		_    [20]byte
	}{}
	copy(request.name[:15], name)
	for _, call := range []uintptr{unix.SIOCGIFMTU, unix.SIOCSIFMTU} {
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), call, uintptr(unsafe.Pointer(&request))); errno != 0 {
			return errno
		}
	}
	return nil
}

// socketFiles lists the sockets below some folders.
func socketFiles(folders ...string) (all []string) {
	for _, folder := range folders {
		_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type()&fs.ModeSocket != 0 {
				all = append(all, path)
			}
			return nil
		})
	}
	return all
}
