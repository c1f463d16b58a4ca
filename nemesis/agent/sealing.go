package agent

import (
	"os"
	"strconv"
	"sync"

	"github.com/dlmtest/dlmtest/nemesis/agent/seal"
)

// way is how this node keeps apart what it starts. The runtime local says so; in a
// container the agent is root, and has other users to be.
var way = sync.OnceValue(func() seal.Way {
	if w := seal.Here(); w != seal.Open {
		return w
	}
	return seal.Users
})

// sealing are the orders for a child, or for what is asked in its place. In the runtime
// local there is one user, whatever an image would say.
func sealing(spec Child) (seal.Orders, error) {
	if spec.Looks && way() == seal.Namespaces {
		return seal.Orders{Way: seal.Open}, nil // in a process namespace of its own it would see none of them
	}
	uid, gid := os.Geteuid(), os.Getegid()
	switch {
	case way() == seal.Users && spec.Speaks && spec.User == strconv.Itoa(seal.WorkerID): // and not whom the image gives that name
		uid, gid = seal.WorkerID, seal.WorkerID
	case way() == seal.Users:
		var err error
		if uid, gid, err = account(spec.User); err != nil {
			return seal.Orders{}, err
		}
	}
	if spec.Speaks {
		return seal.Worker(way(), uid, gid, spec.Starts), nil
	}
	return seal.Server(way(), uid, gid).Change(spec.Gains, spec.Loses), nil
}
