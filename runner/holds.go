package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dlmtest/dlmtest/nemesis"
	"github.com/dlmtest/dlmtest/nemesis/agent"
)

// holds asks a server for whom it keeps the lock of a key; "" is for nobody.
func (s *stage) holds(ctx context.Context, v nemesis.Victim, key string) (string, error) {
	i := slices.IndexFunc(s.servers, func(n *node) bool { return n.Name() == v.Name() })
	if i < 0 {
		return "", fmt.Errorf("%s is no server", v.Name())
	}
	n := s.servers[i]
	if len(n.Spec.Holds) == 0 {
		return "", fmt.Errorf("%s cannot be asked which client it keeps the lock for (label dlmtest.holds)", n.Name())
	}
	child := agent.Child{Argv: append(slices.Clone(n.Spec.Holds), key), Env: n.Spec.Env, User: n.Spec.User}
	m, err := n.ask(ctx, agent.Command{Do: agent.Run, Child: &child})
	return strings.TrimSpace(m.Log), err
}
