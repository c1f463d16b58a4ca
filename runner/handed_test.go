package runner

import (
	"github.com/dlmtest/dlmtest/clusters"
	"github.com/dlmtest/dlmtest/internal/golden"
)

// In a program the root package does this.
func init() { clusters.Compose = golden.Root("docker-compose.yml") }
