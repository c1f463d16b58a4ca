package resource

import (
	"fmt"

	"github.com/dlmtest/dlmtest/history"
	"github.com/dlmtest/dlmtest/internal/settings"
)

// When the fenced copy accepts a token, and what registers one.
const (
	// AtLeast accepts a token that is at least the highest registered. It is the
	// default: one grant may write several times.
	AtLeast = history.AtLeast
	// Strict accepts a token only above that of every write accepted before. It
	// refuses a holder's second write as if it were stale, which is right only
	// where each grant writes once, and then also stops a repeated delivery.
	Strict = history.Strict

	// OnWrite registers the token of each accepted write: the published pattern.
	// It does not save read-modify-write. The new holder reads, the zombie's
	// write is still accepted, the new holder overwrites it.
	OnWrite = history.OnWrite
	// OnRead registers the token of a read too, so the zombie is shut out from
	// the moment at which the new holder has read.
	OnRead = history.OnRead
)

// Rules are the rules of the fenced copy. The zero value is AtLeast, OnWrite.
type Rules struct {
	Fencing string `json:"fencing"`  // AtLeast or Strict; "" is AtLeast
	FenceOn string `json:"fence_on"` // OnWrite or OnRead; "" is OnWrite
	Key     string `json:"-"`        // with which a client's connection begins; "" lets everybody in
}

// RulesOf are the rules that the settings of a run ask for.
func RulesOf(s settings.Settings) Rules { return Rules{Fencing: s.Fencing, FenceOn: s.FenceOn} }

// KeyVariable is the environment variable with the Key of a server that is a program.
const KeyVariable = "DLMTEST_STORE_KEY"

// Check refuses unknown words.
func (r Rules) Check() error {
	switch r.Fencing {
	case "", AtLeast, Strict:
	default:
		return fmt.Errorf("resource: fencing %q: want %s or %s", r.Fencing, AtLeast, Strict)
	}
	switch r.FenceOn {
	case "", OnWrite, OnRead:
	default:
		return fmt.Errorf("resource: fence on %q: want %s or %s", r.FenceOn, OnWrite, OnRead)
	}
	return nil
}

// fence is what a fenced copy remembers of tokens. The two differ only under
// OnRead: were they one, Strict would refuse every writer that had read first.
type fence struct {
	highest int64 // by accepted writes and, under OnRead, by reads
	written int64 // by accepted writes alone
}

// accepts says whether the fenced copy takes a write with this token.
func (r Rules) accepts(f fence, token int64) bool {
	if token == 0 {
		return true // nothing to check: the lock gives no tokens
	}
	if r.Fencing == Strict && token <= f.written {
		return false
	}
	return token >= f.highest
}
