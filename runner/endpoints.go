package runner

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/secret"
	"github.com/dlmtest/dlmtest/locks"
	"github.com/dlmtest/dlmtest/nemesis/agent"
	"github.com/dlmtest/dlmtest/scenarios"
)

// BearerVariable names the environment variable with the bearer token of the lock
// service under test. It is no flag and no part of a run's files: it is a secret.
const BearerVariable = clusters.Bearer

// elsewhere says whether the lock service is the user's own, which dlmtest only calls.
func (o Options) elsewhere() bool { return len(o.Endpoints) > 0 }

var errNoWayOut = fmt.Errorf("%w: --endpoint: nodes of the runtime local have no way out of the run's own network; use --runtime docker, "+
	"or describe the service in a compose file (--compose), whose commands the runtime local starts itself", ErrUsage)

// reaches refuses endpoints that no client of a run can use.
func (o Options) reaches(entry locks.Lock) error {
	if !o.elsewhere() {
		return nil
	}
	switch {
	case entry.Profile != serviceProfile:
		return misfitf("--endpoint is for a lock service that you run, with --backend http or grpc; %s is started by "+
			"dlmtest, and --compose changes how", o.Backend)
	case o.Runtime == "local":
		return errNoWayOut
	case o.Compose != "", o.Fsync != "", o.Etcd != "", o.Scenario.Disk == "lossy":
		return misfitf("--endpoint: dlmtest does not start the service, so --compose, --fsync, --etcd and disk: lossy have nothing to be about")
	}
	for _, e := range o.Endpoints {
		host, _, err := net.SplitHostPort(hostOf(e))
		if strings.Contains(e, secret.Hidden) {
			return fmt.Errorf("%w: --endpoint %s: %s stands for a secret that was not stored; give it anew", ErrUsage, secret.Endpoint(e), secret.Hidden)
		}
		if e = secret.Endpoint(e); err != nil {
			var bad *net.AddrError
			if errors.As(err, &bad) {
				err = errors.New(bad.Err) // the whole has the address as it is
			}
			return fmt.Errorf("%w: --endpoint %s: want host:port, or http://host:port/path for http: %w", ErrUsage, e, err)
		}
		if ip, err := netip.ParseAddr(host); host == "localhost" || err == nil && (ip.IsLoopback() || ip.IsUnspecified()) {
			return fmt.Errorf("%w: --endpoint %s: in a client's node that is the node itself; have the service listen "+
				"on all addresses (0.0.0.0), or its container publish the port, and call this machine %s", ErrUsage, e, thisMachine)
		}
	}
	return nil
}

// thisMachine is what clients in Docker call the machine that they run on: it has no
// address that is the same everywhere.
const thisMachine = "host.docker.internal"

// hosts are the names that a client needs to reach a service on this machine.
func (o Options) hosts() []string {
	if !o.elsewhere() {
		return nil
	}
	return []string{thisMachine + ":host-gateway"}
}

// answerLimit is how long a service that runs already may take until a first operation
// of every client has succeeded.
const answerLimit = 30 * time.Second

// inTime ends when the nodes should have been ready, with a cause that says what to do.
func (o Options) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	if !o.elsewhere() {
		return context.WithTimeoutCause(ctx, readyLimit, fmt.Errorf("not ready within %v", readyLimit))
	}
	return context.WithTimeoutCause(ctx, answerLimit,
		fmt.Errorf("%s has granted no lock within %v; clients are containers on a network of their own, where the name "+
			"or address of another container leads nowhere: "+
			"publish its port (docker run --publish 8080:8080) and give http://%s:8080",
			strings.Join(secret.Endpoints(o.Endpoints), ", "), answerLimit, thisMachine))
}

// bearer is the token that clients send; "" where there is none, or it is withheld.
func (p *plan) bearer() string {
	if p.entry.Profile != serviceProfile || p.Withhold {
		return ""
	}
	return os.Getenv(BearerVariable)
}

// secrets are the words that nothing of the run may show or store.
func (p *plan) secrets() []string {
	words := append(secret.Of(p.Endpoints), secret.Forms(os.Getenv(BearerVariable))...) // a server may have it where no client does
	for _, w := range p.Adapter {
		words = append(words, secret.In(w)...)
	}
	return words
}

// serviceProfile is that of the lock services with an API.
const serviceProfile = "lockservice"

// hostOf is the host:port of an endpoint; HTTP has a usual port.
func hostOf(endpoint string) string {
	if !strings.Contains(endpoint, "://") {
		return endpoint
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return endpoint
	}
	if u.Port() == "" && u.Scheme == "http" {
		return net.JoinHostPort(u.Hostname(), "80")
	}
	return u.Host
}

// outOfReach says why a fault cannot hit a service that dlmtest has not started, or "".
// Its clients, their links to it and the resource are dlmtest's own.
func (p *plan) outOfReach(f scenarios.Fault) string {
	if !p.elsewhere() {
		return ""
	}
	if f.Fault == "partition" && f.From == "" || !p.isOurs(f.Target) || !p.isOurs(f.From) || !p.isOurs(f.To) {
		return fmt.Sprintf("%s on %s: the service at --endpoint is not dlmtest's to break; only clients (holder, "+
			"a-waiter, …), their links and the resource can be hit. Describe its nodes in a compose file (--compose) for the rest", f.Fault, f.Target)
	}
	return ""
}

// isOurs says whether a target is a node that this run starts; "" leaves it open.
func (p *plan) isOurs(target string) bool {
	return target == "" || target == "resource" || p.isClient(target)
}

// endpointLinks are the links of a client to a service elsewhere.
func (p *plan) endpointLinks() (all []agent.Link) {
	for i, e := range p.Endpoints {
		all = append(all, agent.Link{Name: fmt.Sprintf("endpoint-%d", i+1), Upstream: hostOf(e), Protocol: p.speaks(),
			Listen: fmt.Sprintf("127.0.0.1:%d", linkPort+i)})
	}
	return all
}

// through is an endpoint as a client reaches it by its link: a URL keeps its path.
func through(endpoint, link string) string {
	if !strings.Contains(endpoint, "://") {
		return link
	}
	u, err := url.Parse(endpoint)
	if err != nil {
		return link
	}
	u.Host = link
	return u.String()
}
