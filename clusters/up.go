package clusters

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/dlmtest/dlmtest/clusters/engine"
)

// deployment is one cluster in Docker: what Up makes and Down removes.
type deployment struct {
	*Docker
	run     Run
	network string
	open    bool // its network leads out of it
	nodes   []*member
	once    sync.Once
	downErr error
}

// upLimit is many times what the largest cluster takes on a busy machine. A daemon
// may hang for ever: 20.10 can deadlock over the end of an endpoint.
const upLimit = 3 * time.Minute

var errSlowDaemon = fmt.Errorf("the Docker daemon has not started all nodes within %v; it may hang: see whether docker "+
	"info answers, and restart it if not", upLimit)

// Up starts the nodes as containers on a network of their own, all at once. The
// images must be there: see EnsureImages. On an error nothing is left.
func (d *Docker) Up(ctx context.Context, run Run, specs []NodeSpec) (*Cluster, error) {
	dep := &deployment{Docker: d, run: run, network: "dlmtest-" + run.ID}
	ctx, cancel := context.WithCancelCause(ctx) // what waits for the containers' ends lives as long as they
	c := &Cluster{down: func(ctx context.Context) error { defer cancel(nil); return dep.down(ctx) }}
	limit := time.AfterFunc(upLimit, func() { cancel(errSlowDaemon) })
	err := dep.up(ctx, specs)
	limit.Stop()
	if err != nil {
		if errors.Is(context.Cause(ctx), errSlowDaemon) {
			err = errSlowDaemon
		}
		err = fmt.Errorf("cluster %s: %w", run.ID, err)
		return nil, errors.Join(err, c.Down(context.WithoutCancel(ctx)))
	}
	for _, m := range dep.nodes {
		c.Nodes = append(c.Nodes, &m.Node)
	}
	return c, nil
}

// up overlaps what it can: containers are created while the network is, for a
// container needs its network only at its start.
func (d *deployment) up(ctx context.Context, specs []NodeSpec) error {
	if err := Distinct(specs); err != nil {
		return err
	}
	specs, err := d.resolve(ctx, specs)
	if err != nil {
		return err
	}
	d.open = slices.ContainsFunc(specs, func(s NodeSpec) bool { return s.Outside })
	volume, err := d.agentVolume(ctx, specs[0].Image)
	if err != nil {
		return err
	}
	for _, s := range specs {
		d.nodes = append(d.nodes, &member{Node: Node{Spec: s}})
	}
	made := make(chan error, 1)
	go func() { made <- d.createNetwork(ctx) }()
	err = parallel(len(d.nodes), func(i int) error { return d.create(ctx, d.nodes[i], volume) })
	if err := errors.Join(<-made, err); err != nil {
		return err
	}
	if err := d.refill(ctx, volume, specs[0].Image); err != nil {
		return err
	}
	if err := parallel(len(d.nodes), func(i int) error { return d.start(ctx, d.nodes[i]) }); err != nil {
		return err
	}
	return d.addresses(ctx)
}

// sealedNetwork is what a network takes that leads nowhere: Docker forwards nothing of it, and
// the machine has no address on its bridge, at which it could be reached all the same.
var sealedNetwork = map[string]string{"com.docker.network.bridge.inhibit_ipv4": "true"}

// deafServer is whom Docker's name service passes names on to that are not of the run: nobody
// listens there, so the answer is an error at once, and no question leaves the machine.
const deafServer = "127.0.0.1"

func (d *deployment) createNetwork(ctx context.Context) error {
	o := engine.NetworkOptions{Driver: "bridge", Labels: d.labels(d.run)}
	if !d.open {
		o.Internal, o.Options = true, sealedNetwork
	}
	if err := d.api.CreateNetwork(ctx, d.network, o); err != nil {
		return fmt.Errorf("create network %s: %w", d.network, err)
	}
	return nil
}

// addresses asks once for all nodes.
func (d *deployment) addresses(ctx context.Context) error {
	net, err := d.api.Network(ctx, d.network)
	if err != nil {
		return fmt.Errorf("inspect network %s: %w", d.network, err)
	}
	for _, m := range d.nodes {
		prefix, err := netip.ParsePrefix(net.Containers[m.id].IPv4Address)
		if err != nil {
			return d.gone(m)
		}
		m.Addr = prefix.Addr()
	}
	return nil
}

// gone explains a node that is no longer on the network: it has exited.
func (d *deployment) gone(m *member) error {
	select {
	case e := <-m.exited:
		return e
	case <-time.After(2 * time.Second):
		return fmt.Errorf("node %s has no address", m.Spec.Name)
	}
}

func (d *deployment) down(ctx context.Context) error {
	d.once.Do(func() {
		err := parallel(len(d.nodes), func(i int) error { return d.remove(ctx, d.nodes[i]) })
		d.downErr = errors.Join(err, d.removeNetwork(ctx, d.network, 50), d.removeVolumes(ctx))
	})
	return d.downErr
}

// removeVolumes removes those that the nodes' own mounts made.
func (d *deployment) removeVolumes(ctx context.Context) error {
	names := map[string]bool{}
	for _, m := range d.nodes {
		for _, v := range m.Spec.Mounts {
			if v.Type == "volume" && v.Source != "" {
				names[d.network+"-"+v.Source] = true
			}
		}
	}
	var errs []error
	for name := range names {
		errs = append(errs, d.removeVolume(ctx, name))
	}
	return errors.Join(errs...)
}

// removeNetwork tries again, 50 ms apart, for containers that are still leaving it.
func (d *Docker) removeNetwork(ctx context.Context, name string, tries int) error {
	var err error
	for range tries {
		err = d.api.RemoveNetwork(ctx, name)
		if err == nil || engine.IsNotFound(err) {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
	if d.stuck(ctx, name, err) {
		return nil
	}
	return fmt.Errorf("remove network %s: %w; remove it with docker network rm", name, err)
}

// stuck tells a network that no container uses and that the daemon holds to be in
// use all the same. Docker 20.10 now and then forgets to count an endpoint down;
// only its restart removes such a network. It has no traffic, harms no later run,
// and is no fault of this one.
func (d *Docker) stuck(ctx context.Context, name string, err error) bool {
	if err == nil || !strings.Contains(err.Error(), "has active endpoints") {
		return false
	}
	n, err := d.api.Network(ctx, name)
	return err == nil && len(n.Containers) == 0
}
