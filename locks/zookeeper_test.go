package locks

import (
	"encoding/binary"
	"net"
	"testing"
	"time"

	"github.com/dlmtest/dlmtest/history"
)

func TestZKClaimCountsFromTheHeartbeatBefore(t *testing.T) {
	at := func(ms int64) history.Stamp { return history.Stamp{Mono: ms * 1e6} }
	s := &zkSession{lease: 800 * time.Millisecond}
	s.greeted(at(1000), s.lease)
	for _, c := range []struct{ beat, base int64 }{
		{1050, 1000}, // too close to the handshake to count
		{1200, 1000},
		{1250, 1000},
		{1400, 1200},
		{1300, 1200}, // answered out of order
	} {
		s.answered(at(c.beat))
		if got := s.deadline(at(5000)); got != (c.base+800)*1e6 {
			t.Errorf("after the beat of %d: deadline %d, want %d", c.beat, got/1e6, c.base+800)
		}
	}
	if got := s.deadline(at(1100)); got != 1900*1e6 {
		t.Errorf("a claim by a request sent at 1100 ends at %d", got/1e6)
	}
	s.greeted(at(9000), 0) // expired: grants nothing
	if got := s.deadline(at(9000)); got != 2000*1e6 {
		t.Errorf("an expired handshake moved the deadline to %d", got/1e6)
	}
}

func TestZKWireReadsTheGrantedTimeout(t *testing.T) {
	client, server := net.Pipe()
	defer client.Close()
	s := &zkSession{lease: time.Second}
	w := &zkWire{Conn: client, session: s, limit: time.Second}
	go func() {
		defer server.Close()
		server.Read(make([]byte, 4))
		answer := make([]byte, 41)
		binary.BigEndian.PutUint32(answer, 37)
		binary.BigEndian.PutUint32(answer[8:], 4000)
		server.Write(answer[:3]) // in pieces
		server.Write(answer[3:])
	}()
	w.Write([]byte("conn"))
	for n := 0; n < 41; {
		m, err := w.Read(make([]byte, 10))
		if err != nil {
			t.Fatal(err)
		}
		n += m
	}
	if s.timeout() != 4*time.Second || s.base.Mono == 0 {
		t.Errorf("timeout %v, sent %v", s.timeout(), s.base)
	}
}

func TestZKRank(t *testing.T) {
	if a, b := zkRank("_c_ZZ-lock-0000000009"), zkRank("_c_AA-lock-0000000010"); a >= b {
		t.Errorf("%s is not before %s", a, b)
	}
}
