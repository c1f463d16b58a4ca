// Package dlmtest tests distributed locks: it starts a real cluster, drives
// concurrent clients against it, breaks things on purpose and judges the
// recorded history.
package dlmtest

import _ "embed"

// Compose is docker-compose.yml, the description of every cluster.
//
//go:embed docker-compose.yml
var Compose []byte
