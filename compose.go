package dlmtest

import (
	_ "embed"

	"github.com/dlmtest/dlmtest/clusters"
)

//go:embed docker-compose.yml
var compose []byte

// Only a package at the top can embed what lies there, and clusters cannot import it.
func init() { clusters.Compose = compose }
