// Package corpus holds published bugs of real lock libraries, each as a pinned version,
// an ordinary scenario and the property that it breaks. A harness for locks must find
// each of them, and must not find it where it was fixed.
package corpus

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dlmtest/dlmtest/internal/near"
	"github.com/dlmtest/dlmtest/locks/libraries"
)

// Entry is one known bug.
type Entry struct {
	Name      string `json:"name"`
	Affected  Pin    `json:"affected"`
	Control   Pin    `json:"control"`         // where it must not be found; zero: there is none
	Fixed     string `json:"fixed,omitempty"` // where there is no control, although it was fixed: why; "": it never was
	Scenario  string `json:"scenario"`
	SelfFence string `json:"self_fence,omitempty"` // what clients look at before they write; "": nothing
	Strict    bool   `json:"strict,omitempty"`     // two who believe are enough, whether or not they act
	Property  string `json:"property"`             // that it breaks
	Reference string `json:"reference"`
	Anomaly   string `json:"anomaly"`
}

// Pin is what is under test.
type Pin struct {
	Library  string `json:"library,omitempty"`  // NAME@VERSION; "": the backend's reference lock
	Backend  string `json:"backend,omitempty"`  // "": the library's own
	Etcd     string `json:"etcd,omitempty"`     // version of the server; "": as it is
	Scenario string `json:"scenario,omitempty"` // "": the entry's
}

// String is the pin as a track record names it.
func (p Pin) String() string {
	name := cmp.Or(p.Library, p.Backend)
	if p.Etcd != "" {
		name += ", etcd server " + p.Etcd
	}
	if p.Scenario != "" {
		name += ", " + p.Scenario
	}
	return name
}

// On is the backend that the pin runs on.
func (p Pin) On() (string, error) {
	if p.Backend != "" {
		return p.Backend, nil
	}
	return libraries.Default(p.Library)
}

// Command is the command line that runs the pin in the entry's scenario.
func (p Pin) Command(e Entry) string {
	text := "dlmtest run --scenario " + cmp.Or(p.Scenario, e.Scenario)
	if p.Backend != "" {
		text += " --backend " + p.Backend
	}
	if p.Library != "" {
		text += " --library " + p.Library
	}
	if p.Etcd != "" {
		text += " --etcd " + p.Etcd
	}
	if e.SelfFence != "" {
		text += " --self-fence " + e.SelfFence
	}
	if e.Strict {
		text += " --strict"
	}
	return text
}

// Names of the entries, in their order.
func Names() (names []string) {
	for _, e := range Entries {
		names = append(names, e.Name)
	}
	return names
}

// Choose returns the entries of some names; all is every one.
func Choose(names []string) (chosen []Entry, err error) {
	if slices.Equal(names, []string{"all"}) {
		return Entries, nil
	}
	for _, name := range names {
		i := slices.Index(Names(), name)
		if i < 0 {
			return nil, fmt.Errorf("no known bug is called %q%s; dlmtest corpus shows all", name, near.Hint(name, Names()))
		}
		chosen = append(chosen, Entries[i])
	}
	return chosen, nil
}
