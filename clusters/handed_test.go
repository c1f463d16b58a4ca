package clusters

import (
	"github.com/dlmtest/dlmtest/internal/golden"
)

// In a program the root package does this.
func init() { Compose = golden.Root("docker-compose.yml") }
