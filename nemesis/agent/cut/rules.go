package cut

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/google/nftables"
	"github.com/google/nftables/binaryutil"
	"github.com/google/nftables/expr"
	"github.com/google/nftables/userdata"
	"golang.org/x/sys/unix"
)

// The ruleset is
//
//	table inet dlmtest {
//	  chain cuts { type filter hook input priority -1
//	    ip saddr 10.0.0.3 counter meta mark set 0x646c6d74 comment "dlmtest ID 10.0.0.3" ; …
//	  }
//	  chain drop { type filter hook input priority 0
//	    meta mark 0x646c6d74 drop
//	  }
//	}
//
// A cut marks and counts, and one last rule drops: were each cut to drop by
// itself, the second of two overlapping cuts would count nothing and look as if
// it had not happened.
const (
	tableName = "dlmtest"
	mark      = 0x646c6d74 // "dlmt": packets that bear it go no further
)

func table() *nftables.Table {
	return &nftables.Table{Name: tableName, Family: nftables.TableFamilyINet}
}

// chains is where rules go.
type chains struct {
	table *nftables.Table
	cuts  *nftables.Chain
}

// prepare queues the table, its chains and the last rule. It may be repeated: what
// is there stays, and the drop rule is replaced within the same transaction.
func prepare(c *nftables.Conn) chains {
	t := c.AddTable(table())
	cuts := c.AddChain(&nftables.Chain{Name: "cuts", Table: t, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityRef(-1)})
	drop := c.AddChain(&nftables.Chain{Name: "drop", Table: t, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityRef(0)})
	c.FlushChain(drop)
	c.AddRule(&nftables.Rule{Table: t, Chain: drop, Exprs: []expr.Any{
		&expr.Meta{Key: expr.MetaKeyMARK, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.NativeEndian.PutUint32(mark)},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}})
	return chains{t, cuts}
}

// add queues the rules for one peer.
func (t chains) add(c *nftables.Conn, peer netip.Addr, o Options) {
	note := userdata.AppendString(nil, userdata.TypeComment, fmt.Sprintf("%s %s %s", tableName, o.ID, peer))
	rule := func(extra ...expr.Any) {
		exprs := append(from(peer), extra...)
		exprs = append(exprs, &expr.Counter{},
			&expr.Immediate{Register: 1, Data: binaryutil.NativeEndian.PutUint32(mark)},
			&expr.Meta{Key: expr.MetaKeyMARK, SourceRegister: true, Register: 1})
		c.AddRule(&nftables.Rule{Table: t.table, Chain: t.cuts, Exprs: exprs, UserData: note})
	}
	if len(o.Ports) == 0 {
		rule()
	}
	for _, p := range o.Ports {
		rule(port(0, p)...)
		rule(port(2, p)...)
	}
}

// from matches packets whose source address is peer.
func from(peer netip.Addr) []expr.Any {
	family, offset := byte(unix.NFPROTO_IPV4), uint32(12)
	if peer.Is6() {
		family, offset = unix.NFPROTO_IPV6, 8
	}
	raw := peer.AsSlice()
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyNFPROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{family}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: offset, Len: uint32(len(raw))},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: raw},
	}
}

// port matches TCP packets by the port at offset of their header: 0 is the
// source's, 2 the destination's.
func port(offset uint32, p uint16) []expr.Any {
	return []expr.Any{
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{unix.IPPROTO_TCP}},
		&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: offset, Len: 2},
		&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: binaryutil.BigEndian.PutUint16(p)},
	}
}

// rule is one rule of a cut, as the kernel has it.
type rule struct {
	*nftables.Rule
	id, peer string
}

// present says whether the table is there.
func present(c *nftables.Conn) (bool, error) {
	tables, err := c.ListTablesOfFamily(nftables.TableFamilyINet)
	if err != nil {
		return false, fmt.Errorf("list nftables: %w (NET_ADMIN and nf_tables are needed)", err)
	}
	for _, t := range tables {
		if t.Name == tableName {
			return true, nil
		}
	}
	return false, nil
}

// rules lists the rules of all cuts.
func rules(c *nftables.Conn) ([]rule, error) {
	if found, err := present(c); err != nil || !found {
		return nil, err
	}
	all, err := c.GetRules(table(), &nftables.Chain{Name: "cuts"})
	if err != nil {
		return nil, fmt.Errorf("list rules: %w", err)
	}
	var found []rule
	for _, r := range all {
		note, _ := userdata.GetString(r.UserData, userdata.TypeComment)
		if words := strings.Split(note, " "); len(words) == 3 && words[0] == tableName {
			found = append(found, rule{r, words[1], words[2]})
		}
	}
	return found, nil
}
