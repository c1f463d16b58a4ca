package local_test

import (
	"os"

	"github.com/dlmtest/dlmtest/clusters"
)

// composeText holds docker-compose.yml for a user who may not read it.
const composeText = "DLMTEST_TEST_COMPOSE"

// The package dlmtest hands docker-compose.yml down in a program. It would bring the agent, too, for which this test
// binary has a stand-in.
func init() {
	if text := os.Getenv(composeText); text != "" {
		clusters.Compose = []byte(text)
	} else if text, err := os.ReadFile("../../docker-compose.yml"); err == nil { // a node has none, and needs none
		clusters.Compose = text
	}
}
