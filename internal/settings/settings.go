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
// them, or what the empty value stands for. help is its line in --help, and value the word in it
// that its value is called by. trust says that it names what is started, shown to code or
// called, so that a file alone cannot ask for it (see runner.Given). secret says that it
// may hold passwords, which are stored as ***, path that it is stored as an absolute one, and command
// that the list is the words of one command.
type Settings struct {
	Library   string   `flag:"library" json:"library,omitempty" yaml:"library,omitempty" trust:"yes" help:"lock library under test by NAME or NAME@VERSION (default: the lock of the backend)"`
	Adapter   []string `flag:"adapter" json:"adapter,omitempty" yaml:"adapter,omitempty" trust:"yes" secret:"yes" command:"yes" value:"command" help:"your own lock client: the command of an adapter that speaks the lock client protocol, run in each client node"`
	Files     string   `flag:"adapter-files" json:"adapter_files,omitempty" yaml:"adapter-files,omitempty" trust:"yes" path:"yes" value:"folder" help:"folder that client nodes see at /adapter, read-only"`
	Image     string   `flag:"client-image" json:"client_image,omitempty" yaml:"client-image,omitempty" trust:"yes" value:"image" help:"Docker image of the client nodes, with what the adapter needs (default: a plain Debian)"`
	SelfFence string   `flag:"self-fence" json:"self_fence" yaml:"self-fence,omitempty" words:"none,check-deadline,check-session" default:"none" help:"what a client checks before it writes: none, check-deadline, check-session"`
	Resource  string   `flag:"resource" json:"resource" yaml:"resource,omitempty" words:"store,postgres" default:"store" help:"guarded resource: store (built in) or postgres"`
	Fencing   string   `flag:"fencing" json:"fencing" yaml:"fencing,omitempty" words:"at-least,strict" default:"at-least" help:"when the fenced copy accepts a token: at-least (not below the highest) or strict (above it)"`
	FenceOn   string   `flag:"fence-on" json:"fence_on" yaml:"fence-on,omitempty" words:"write,read" default:"write" help:"what registers a token: write, or read (reads and writes)"`
	Idle      Timeout  `flag:"idle-timeout" json:"idle_timeout,omitempty" yaml:"idle-timeout,omitempty" default:"off" help:"PostgreSQL's idle_in_transaction_session_timeout: off, lease, or a duration"`
	Fsync     string   `flag:"fsync" json:"fsync,omitempty" yaml:"-" help:"when the servers make data durable: memory, everysec, always, async or none, as the backend has them"`
	Wait      int      `flag:"wait" json:"wait,omitempty" yaml:"wait,omitempty" help:"redis-replicated: replicas that must acknowledge a grant (WAIT)"`
	Etcd      string   `flag:"etcd" json:"etcd,omitempty" yaml:"etcd,omitempty" help:"version of etcd to build from its Go module, such as 3.6 (default: Debian's)"`
	Until     string   `flag:"until" json:"until,omitempty" yaml:"until,omitempty" words:"time,decided" default:"time" help:"when the load ends: time (as the scenario says), or decided (once all that the scenario expects has been seen)"`
	Strict    bool     `flag:"strict" json:"strict,omitempty" yaml:"strict,omitempty" help:"count overlaps in which the stale holder did nothing"`
	Oracle    string   `flag:"oracle" json:"oracle,omitempty" yaml:"oracle,omitempty" words:"windows,full,off" default:"windows" help:"what Porcupine is asked: windows (the smallest history of each violation), full (whole histories too), off"`
	Endpoints []string `flag:"endpoint" json:"endpoints,omitempty" yaml:"endpoint,omitempty" trust:"yes" secret:"yes" value:"host:port" help:"host:port or URL of your own lock service, with --backend http or grpc; once for each of its nodes; its bearer token is in $DLMTEST_BEARER"`
	Compose   string   `flag:"compose" json:"compose,omitempty" yaml:"compose,omitempty" trust:"yes" path:"yes" value:"file" help:"your own compose file with the backend's profile, for your versions and configuration"`
	AllowHost bool     `flag:"allow-host" json:"-" yaml:"-" help:"let the compose file reach this machine: bind mounts, devices, privileges; what does is listed before the start"`
	Runtime   string   `flag:"runtime" json:"runtime" yaml:"runtime,omitempty" words:"auto,docker,local" default:"auto" help:"where nodes run: docker, local (namespaces, no Docker and no root), or auto: docker where a daemon answers"`
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
