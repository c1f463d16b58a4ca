package clusters

// Compose is docker-compose.yml, the description of every cluster. It lies at the top of the
// module, where only the root package can embed it: that hands it down here.
var Compose []byte
