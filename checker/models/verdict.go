package models

import "fmt"

// Verdict is three-valued, plus n/a. Unknown is the zero value, so that what
// was never decided is never green.
type Verdict uint8

// Violated beats Unknown beats Holds; NA changes nothing.
const (
	Unknown Verdict = iota
	Holds
	Violated
	NA
)

var verdictNames = [...]string{Unknown: "unknown", Holds: "holds", Violated: "violated", NA: "n/a"}

// String is the name of the verdict.
func (v Verdict) String() string { return verdictNames[v] }

// MarshalText writes the verdict's name.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads a name that MarshalText wrote.
func (v *Verdict) UnmarshalText(text []byte) error {
	for i, name := range verdictNames {
		if name == string(text) {
			*v = Verdict(i)
			return nil
		}
	}
	return fmt.Errorf("verdict %q: want unknown, holds, violated or n/a", text)
}

// Merge returns the verdict of a whole of which a and b are parts.
func Merge(a, b Verdict) Verdict {
	rank := [...]int{NA: 0, Holds: 1, Unknown: 2, Violated: 3}
	if rank[a] >= rank[b] {
		return a
	}
	return b
}
