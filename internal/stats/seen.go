package stats

import "fmt"

// Rate is how often something was seen.
type Rate struct {
	Seen int `json:"seen"`
	Of   int `json:"of"`
}

// String says it with its interval: "19 of 20 (95 %: 76.3 % to 99.2 %)".
func (r Rate) String() string {
	return fmt.Sprintf("%d of %d (95 %%: %s)", r.Seen, r.Of, Wilson(r.Seen, r.Of))
}
