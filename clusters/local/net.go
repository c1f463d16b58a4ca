package local

import (
	"fmt"
	"net"
	"net/netip"
	"os"

	"github.com/vishvananda/netlink"
)

const (
	bridgeName = "dlmtest0"
	linkName   = "eth0" // in a node, as in a container
)

// makeBridge joins the nodes of a run, in the run's own network namespace. There
// is no route out of it.
func makeBridge(c Config) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Flags = bridgeName, net.FlagUp
	bridge := &netlink.Bridge{LinkAttrs: attrs}
	if err := netlink.LinkAdd(bridge); err != nil {
		return fmt.Errorf("network bridge: %w (is the kernel module bridge missing? modprobe bridge)", err)
	}
	return address(bridgeName, c.Bridge, c.Bits)
}

// plug lays a cable from the bridge into the network namespace of a process.
func plug(number, pid int) error {
	bridge, err := netlink.LinkByName(bridgeName)
	if err != nil {
		return fmt.Errorf("network bridge: %w", err)
	}
	attrs := netlink.NewLinkAttrs()
	attrs.Name, attrs.Flags, attrs.MasterIndex = fmt.Sprintf("node%d", number), net.FlagUp, bridge.Attrs().Index
	cable := &netlink.Veth{LinkAttrs: attrs, PeerName: linkName, PeerNamespace: netlink.NsPid(pid)}
	if err := netlink.LinkAdd(cable); err != nil {
		return fmt.Errorf("network cable: %w (is the kernel module veth missing? modprobe veth)", err)
	}
	return nil
}

// bringUp gives a node's end of the cable its address, and wakes the loopback.
// IPv6 is off, as in Docker's networks, so that no name or socket takes it.
func bringUp(addr netip.Addr, bits int) error {
	for _, which := range []string{"all", "default"} {
		_ = os.WriteFile("/proc/sys/net/ipv6/conf/"+which+"/disable_ipv6", []byte("1"), 0) // a kernel without it is as good
	}
	if err := address("lo", netip.MustParseAddr("127.0.0.1"), 8); err != nil {
		return err
	}
	return address(linkName, addr, bits)
}

func address(link string, addr netip.Addr, bits int) error {
	l, err := netlink.LinkByName(link)
	if err != nil {
		return fmt.Errorf("network device %s: %w", link, err)
	}
	to := &net.IPNet{IP: addr.AsSlice(), Mask: net.CIDRMask(bits, addr.BitLen())}
	if err := netlink.LinkSetUp(l); err != nil {
		return fmt.Errorf("network device %s: %w", link, err)
	}
	if err := netlink.AddrReplace(l, &netlink.Addr{IPNet: to}); err != nil { // lo has its own once it is up
		return fmt.Errorf("network device %s: address %s: %w", link, to, err)
	}
	return nil
}
