package clusters

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// nodeName is what a node may be called. A dot at the end is none for a resolver.
var nodeName = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9])?$`)

// callable refuses what is no name, or leads elsewhere on every node.
func callable(name string) error {
	_, err := netip.ParseAddr(name)
	switch {
	case !nodeName.MatchString(name):
		return fmt.Errorf("%q is no name of a node: begin and end it with a letter or a digit", name)
	case err == nil, strings.EqualFold(name, "localhost"):
		return fmt.Errorf("%q is no name of a node: it leads elsewhere; take another", name)
	}
	return nil
}

// Distinct wants every node to have a name of its own, as resolvers tell names apart: they know no case. A server that
// answers to the name of the guarded resource would be given what clients write, and say what they read.
func Distinct(specs []NodeSpec) error {
	var errs []error
	first := map[string]string{}
	for _, s := range specs {
		key := strings.ToLower(strings.TrimRight(s.Name, "."))
		if is, taken := first[key]; taken && is == s.Name {
			errs = append(errs, fmt.Errorf("two nodes are called %s", s.Name))
		} else if taken {
			errs = append(errs, fmt.Errorf("two nodes are called %s and %s, which is one name to a resolver", is, s.Name))
		}
		first[key] = s.Name
	}
	return errors.Join(errs...)
}
