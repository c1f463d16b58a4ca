package hunt_test

import _ "github.com/dlmtest/dlmtest" // hands docker-compose.yml down, as in a program
