package clusters

import _ "embed"

// Compose is docker-compose.yml, the description of every cluster.
//
//go:embed docker-compose.yml
var Compose []byte
