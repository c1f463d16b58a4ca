package outside

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Ports of the measurements between servers.
const (
	udpPort, tcpPort = "7101", "7102"
	closedPort       = "7103" // nobody listens there
)

const (
	packetEvery  = 10 * time.Millisecond
	connectEvery = 50 * time.Millisecond
	connectLimit = 150 * time.Millisecond
)

// network measures all ways to the peers for ever.
func network(me string, peers []string) error {
	if err := hearUDP(); err != nil {
		return err
	}
	if err := hearTCP(); err != nil {
		return err
	}
	for _, p := range peers {
		if p == me {
			continue
		}
		go sendUDP(me, p)
		go sendTCP(me, p)
		go connects(p)
		go pings(p)
	}
	return nil
}

func hearUDP() error {
	conn, err := net.ListenPacket("udp4", ":"+udpPort)
	if err != nil {
		return err
	}
	go func() {
		b := make([]byte, 200)
		for {
			n, _, err := conn.ReadFrom(b)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			heard(UDP, string(b[:n]))
		}
	}()
	return nil
}

func hearTCP() error {
	l, err := net.Listen("tcp4", ":"+tcpPort)
	if err != nil {
		return err
	}
	go func() {
		for {
			conn, err := l.Accept()
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if err != nil {
				continue
			}
			go func() {
				lines := bufio.NewScanner(conn)
				for lines.Scan() {
					heard(TCP, lines.Text())
				}
				_ = conn.Close()
			}()
		}
	}()
	return nil
}

// heard tells of what has arrived: "NODE NUMBER SENT".
func heard(what, text string) {
	r := Record{Who: "net", What: what}
	if _, err := fmt.Sscan(text, &r.Peer, &r.N, &r.From); err == nil {
		r.print()
	}
}

func sendUDP(me, peer string) {
	for n := 0; ; n++ {
		if conn, err := net.Dial("udp4", net.JoinHostPort(peer, udpPort)); err == nil {
			_, _ = fmt.Fprintf(conn, "%s %d %d", me, n, raw(unix.CLOCK_MONOTONIC)) // what is lost is what is measured
			_ = conn.Close()
		}
		time.Sleep(packetEvery)
	}
}

// sendTCP writes on one connection for as long as it lasts.
func sendTCP(me, peer string) {
	for n := 0; ; {
		conn, err := net.DialTimeout("tcp4", net.JoinHostPort(peer, tcpPort), time.Second)
		for ; err == nil; n++ {
			_, err = fmt.Fprintf(conn, "%s %d %d\n", me, n, raw(unix.CLOCK_MONOTONIC))
			time.Sleep(packetEvery)
		}
		if conn != nil {
			_ = conn.Close()
		}
		time.Sleep(packetEvery)
	}
}

func connects(peer string) {
	for {
		from := raw(unix.CLOCK_MONOTONIC)
		if conn, err := net.DialTimeout("tcp4", net.JoinHostPort(peer, tcpPort), connectLimit); err == nil {
			Record{Who: "net", What: Connect, Peer: peer, From: from}.print()
			_ = conn.Close()
		}
		time.Sleep(connectEvery)
	}
}

// pings sends echo requests; where this user may not, datagrams to a closed port, which the peer's kernel answers by
// ICMP, though seldom.
func pings(peer string) {
	addr, err := net.ResolveIPAddr("ip4", peer)
	if err != nil {
		Record{Who: "icmp", What: Unable, Peer: peer, Text: err.Error()}.print()
		return
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.IPPROTO_ICMP)
	if err != nil {
		refusals(peer)
		return
	}
	to := &unix.SockaddrInet4{Addr: [4]byte(addr.IP.To4())}
	if err := unix.Connect(fd, to); err != nil {
		Record{Who: "icmp", What: Unable, Peer: peer, Text: err.Error()}.print()
		return
	}
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 30_000})
	go func() {
		b := make([]byte, 200)
		for {
			if n, err := unix.Read(fd, b); err == nil && n > 0 && b[0] == 0 { // an echo reply
				Record{Who: "echo", What: ICMP, Peer: peer}.print()
			}
		}
	}()
	for {
		_, _ = unix.Write(fd, []byte{8, 0, 0, 0, 0, 0, 0, 0, 'd', 'l', 'm'}) // the kernel fills in id and checksum
		time.Sleep(2 * packetEvery)
	}
}

func refusals(peer string) {
	for {
		conn, err := net.Dial("udp4", net.JoinHostPort(peer, closedPort))
		if err == nil {
			_, _ = conn.Write([]byte("?"))
			_ = conn.SetReadDeadline(time.Now().Add(10 * packetEvery))
			if _, err := conn.Read(make([]byte, 1)); errors.Is(err, syscall.ECONNREFUSED) {
				Record{Who: "unreachable", What: ICMP, Peer: peer}.print()
			}
			_ = conn.Close()
		}
		time.Sleep(5 * packetEvery)
	}
}
