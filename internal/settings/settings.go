// Package settings holds what decides a run beside its scenario, its backend and its
// seed. One struct goes from the command line to run.json, the worker, replay, shrink and
// the report; what each setting is called, may be and defaults to stands on its field.
package settings

import (
	"encoding/json"
	"fmt"
	"time"
)

// Settings are those of one run. The zero value of a field stands for its default.
//
// The tags of a field: flag, json and yaml are its names on the command line, in run.json
// and in a scenario's settings (of fsync, a scenario has a field of its own). words are those that it can be, and default is one of
// them, or what the empty value stands for. value is the word in its line of help.go that its
// value is called by. trust says that it names what is started, shown to code or
// called, so that a file alone cannot ask for it (see runner.Given). secret says that it
// may hold passwords, which are stored as ***, path that it is stored as an absolute one, and command
// that the list is the words of one command.
type Settings struct {
	Library   string   `flag:"library" json:"library,omitempty" yaml:"library,omitempty" trust:"yes"`
	Adapter   []string `flag:"adapter" json:"adapter,omitempty" yaml:"adapter,omitempty" trust:"yes" secret:"yes" command:"yes" value:"command"`
	Files     string   `flag:"adapter-files" json:"adapter_files,omitempty" yaml:"adapter-files,omitempty" trust:"yes" path:"yes" value:"folder"`
	Image     string   `flag:"client-image" json:"client_image,omitempty" yaml:"client-image,omitempty" trust:"yes" value:"image"`
	SelfFence string   `flag:"self-fence" json:"self_fence" yaml:"self-fence,omitempty" words:"none,check-deadline,check-session" default:"none"`
	Resource  string   `flag:"resource" json:"resource" yaml:"resource,omitempty" words:"store,postgres" default:"store"`
	Fencing   string   `flag:"fencing" json:"fencing" yaml:"fencing,omitempty" words:"at-least,strict" default:"at-least"`
	FenceOn   string   `flag:"fence-on" json:"fence_on" yaml:"fence-on,omitempty" words:"write,read" default:"write"`
	Idle      Timeout  `flag:"idle-timeout" json:"idle_timeout,omitempty" yaml:"idle-timeout,omitempty" default:"off"`
	Fsync     string   `flag:"fsync" json:"fsync,omitempty" yaml:"-"`
	Wait      int      `flag:"wait" json:"wait,omitempty" yaml:"wait,omitempty"`
	Etcd      string   `flag:"etcd" json:"etcd,omitempty" yaml:"etcd,omitempty"`
	Until     string   `flag:"until" json:"until,omitempty" yaml:"until,omitempty" words:"time,decided" default:"time"`
	Strict    bool     `flag:"strict" json:"strict,omitempty" yaml:"strict,omitempty"`
	Free      Timeout  `flag:"free-within" json:"free_within,omitempty" yaml:"free-within,omitempty" default:"off"`
	Oracle    string   `flag:"oracle" json:"oracle,omitempty" yaml:"oracle,omitempty" words:"windows,full,off" default:"windows"`
	Endpoints []string `flag:"endpoint" json:"endpoints,omitempty" yaml:"endpoint,omitempty" trust:"yes" secret:"yes" value:"host:port"`
	Compose   string   `flag:"compose" json:"compose,omitempty" yaml:"compose,omitempty" trust:"yes" path:"yes" value:"file"`
	AllowHost bool     `flag:"allow-host" json:"-" yaml:"-"`
	Runtime   string   `flag:"runtime" json:"runtime" yaml:"runtime,omitempty" words:"auto,docker,local" default:"auto"`
}

// Timeout is off, lease (as long as the lease), or a duration such as 1.5s.
type Timeout string

// Of is the timeout with a lease; 0: there is none.
func (t Timeout) Of(lease time.Duration) (time.Duration, error) {
	switch t {
	case "", "off":
		return 0, nil
	case "lease":
		return lease, nil
	}
	d, err := time.ParseDuration(string(t))
	if err != nil || d < time.Millisecond {
		return 0, fmt.Errorf("want off, lease, or a duration of at least 1ms")
	}
	return d, nil
}

// UnmarshalJSON reads the nanoseconds of an older dlmtest, too.
func (t *Timeout) UnmarshalJSON(data []byte) error {
	var old int64
	if err := json.Unmarshal(data, &old); err == nil {
		*t = Timeout(time.Duration(old).String())
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}
