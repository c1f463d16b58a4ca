package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/net/netutil"

	"github.com/dlmtest/dlmtest/reports/serve"
)

const serveLong = `Browse the folders of runs: a list of runs and matrices, the newest first, with their
verdicts, reports, files and logs. DIR defaults to runs. Ctrl-C ends it.

Nothing can be changed, and nothing outside DIR is read. Only this machine can connect,
unless --listen names another address: then everybody who can reach it can read all of DIR,
as there is no password. In the URL browsers may use localhost or an IP address; any other
name must be allowed with --host, so that no web page of somebody else can read the runs.`

func newServe() *cobra.Command {
	var listen string
	var hosts []string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "serve [DIR]",
		Short: "Browse the folders of runs with a browser",
		Long:  serveLong,
		Example: `  dlmtest serve
  dlmtest serve runs/latest-matrix --listen 127.0.0.1:0
  dlmtest serve /srv/dlmtest/runs --listen 0.0.0.0:8421 --host lab.example.org`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "runs"
			if len(args) > 0 {
				dir = args[0]
			}
			return serveDir(cmd, dir, listen, hosts, asJSON)
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8421", "`ADDRESS:PORT` to listen on; port 0 takes a free one")
	cmd.Flags().StringSliceVar(&hosts, "host", nil, "host `name` that browsers may use in the URL, beside localhost and IP addresses")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the address as JSON")
	return cmd
}

// serveDir serves a folder until the command is interrupted.
func serveDir(cmd *cobra.Command, dir, listen string, hosts []string, asJSON bool) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return usageError{fmt.Errorf("--listen %s: want ADDRESS:PORT, such as 127.0.0.1:8421", listen)}
	}
	if net.ParseIP(host) == nil && host != "" {
		hosts = append(hosts, strings.ToLower(host))
	}
	for i := range hosts {
		hosts[i] = strings.ToLower(hosts[i])
	}
	server, err := serve.Open(dir, hosts...)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("%w; want the folder of runs, such as runs, which dlmtest run makes", err)}
	}
	if err != nil {
		return usageError{err}
	}
	server.Hunt = listedHunt
	defer func() { _ = server.Close() }() // it was only read
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("%w; --listen 127.0.0.1:0 takes a free port", err)
	}
	return serveOn(cmd, l, server, dir, asJSON)
}

// stallLimit is how long a reader may take nothing of what is sent to it.
const stallLimit = 20 * time.Second

// mostReaders is how many connections there may be: each that has only begun a request takes some memory and a file.
const mostReaders = 512

// serveOn says where it is, and serves.
func serveOn(cmd *cobra.Command, l net.Listener, handler http.Handler, dir string, asJSON bool) error {
	url, warning := reach(l.Addr(), dir)
	if warning != "" {
		fmt.Fprintln(stderr, "warning: "+warning)
	}
	if asJSON {
		if err := json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]string{"event": "serving", "url": url, "dir": dir}); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "%s is at %s\nCtrl-C ends it.\n", dir, url)
	}
	ended := make(chan error, 1)
	s := &http.Server{Handler: serve.Unstalled(handler, stallLimit), ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { ended <- s.Serve(netutil.LimitListener(l, mostReaders)) }()
	select {
	case err := <-ended:
		return err
	case <-cmd.Context().Done():
	}
	// What is being sent may end, but nobody waits for a reader that has gone to sleep.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 3*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return s.Close()
}

// reach is the URL of a server, and a warning if not only this machine reaches it.
func reach(addr net.Addr, dir string) (url, warning string) {
	url = "http://" + addr.String() + "/"
	at, ok := addr.(*net.TCPAddr)
	if ok && at.IP.IsLoopback() {
		return url, ""
	}
	if ok && at.IP.IsUnspecified() {
		url = fmt.Sprintf("http://localhost:%d/", at.Port)
	}
	return url, fmt.Sprintf("%s is not only for this machine: everybody who reaches it can read all of %s, logs too", addr, dir)
}
