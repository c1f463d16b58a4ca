package clusters

// treatment says what becomes of a field of a user's compose file. A field that has
// none here is refused, so that nothing of a file vanishes without a word.
type treatment string

const (
	honoured treatment = "honoured"         // in both runtimes
	inDocker treatment = "Docker"           // honoured in Docker; the runtime local refuses it
	idle     treatment = "changes nothing"  // it is named once before the start, with the reason
	host     treatment = "needs allow-host" // it reaches the host in any case; others do in some of their values
	refused  treatment = "refused"
	within   treatment = "" // its own fields are decided one by one
)

// field is how a field is treated: with what is looked at in its value, and what its
// reader should know, which of a refused one is what to do instead.
type field struct {
	treatment
	say  string
	look func(x *examined, at place, value any)
}

const (
	oneNetwork = "take it out: all nodes are on the run's own network, which the faults cut"
	ownStart   = "take it out: all nodes start at once, and the load when all are healthy; let a command wait for what it needs"
	ownEnd     = "take it out: how a server ends, and when it starts again, is the scenario's business"
	ownSpace   = "take it out: a node has namespaces of its own"
	swarm      = "take it out: it is for Swarm"
	ownFiles   = "give the file as a read-only volume: ./file:/path:ro"
	buildFirst = "build the image yourself (docker build -t NAME .) and write image: NAME"
	useLimits  = "write mem_limit, cpus or pids_limit"
	plainMount = "write a bind mount, a volume or a tmpfs with source, target and read_only"
	inFile     = "write them as labels"
	asImage    = "take it out: pull or load the image yourself"
	ownName    = "take it out: a node is called by its service"
	ownLogs    = "take it out: what a node prints is in the run's folder, below logs"
	byShare    = "what is more than a server's share needs --allow-host"
	noWayOut   = "take it out: the run's network leads nowhere, and nodes know each other by name"
)

// projectFields are those of the file itself.
var projectFields = map[string]field{
	"name":                  {idle, "a run is called by its folder", nil},
	"services":              {within, "", nil},
	"services.*":            {within, "", nil},
	"volumes":               {within, "", nil},
	"volumes.*":             {honoured, "a volume lives as long as the run", nil},
	"volumes.*.name":        {refused, "take it out: a volume is the run's own, and none that is there already", nil},
	"volumes.*.driver":      {honoured, "local alone", only("local", "take it out: a volume is a local one")},
	"volumes.*.driver_opts": {refused, "write a bind mount, which says what it shows", nil},
	"volumes.*.external":    {refused, "take it out: a volume is the run's own, and none that is there already", nil},
	"volumes.*.labels":      {refused, "take it out", nil},
	"jobs":                  {refused, ownStart, nil},
	"networks":              {refused, oneNetwork, nil},
	"secrets":               {refused, ownFiles, nil},
	"configs":               {refused, ownFiles, nil},
	"models":                {refused, "take it out", nil},
}

// serviceFields are those of a service.
var serviceFields = map[string]field{
	"name":        {refused, "the key of the service is its name", nil},
	"image":       {honoured, "the runtime local runs the same command with this machine's programs", nil},
	"command":     {honoured, "", nil},
	"entrypoint":  {honoured, "", nil},
	"profiles":    {honoured, "", nil},
	"extends":     {honoured, "of a file below the compose file's folder", nil},
	"environment": {honoured, "of the caller's variables DLMTEST_* alone; others, and DLMTEST_BEARER, need --allow-host", lookEnvironment},
	"env_file":    {within, "", nil},
	"working_dir": {honoured, "", nil},
	"hostname":    {honoured, "the service's own name alone", lookHostname},
	"expose":      {honoured, "single TCP ports", lookExpose},
	"labels":      {honoured, "dlmtest.* below; others change nothing", lookLabels},
	"scale":       {honoured, "1 alone", only(1, "write one service for each node: redis-1, redis-2")},
	"restart":     {honoured, `"no" alone`, only("no", ownEnd)},
	"tmpfs":       {honoured, "with size and mode", lookTmpfs},
	"cap_drop":    {honoured, "of the server", nil},
	"cap_add":     {inDocker, "of a server that is root: harmless ones; others need --allow-host", lookCaps},
	"user":        {inDocker, "", nil},
	"read_only":   {inDocker, "", nil},
	"mem_limit":   {inDocker, byShare, lookSize}, "memswap_limit": {inDocker, byShare, lookSize}, "mem_reservation": {inDocker, "", lookSize},
	"pids_limit": {inDocker, byShare, lookPositive}, "cpus": {inDocker, "", lookPositive}, "shm_size": {inDocker, byShare, lookSize},
	"security_opt": {inDocker, "no-new-privileges; seccomp, apparmor and label need --allow-host", lookSecurity},
	"devices":      {within, "", nil},

	"env_file.path":     {honoured, "below the compose file's folder; others need --allow-host", lookEnvFile},
	"env_file.required": {honoured, "", nil},
	"env_file.format":   {honoured, "", nil},

	"devices.source":      {host, "each device does", lookDevice},
	"devices.target":      {honoured, "the same as its source", lookDeviceTarget},
	"devices.permissions": {honoured, "rwm alone", only("rwm", "take it out: a device is had with rwm")},

	"healthcheck":                {within, "", nil},
	"healthcheck.test":           {honoured, "", nil},
	"healthcheck.disable":        {honoured, "", nil},
	"healthcheck.interval":       {idle, "a node is asked every 50 ms until it is healthy, and again after each fault", nil},
	"healthcheck.timeout":        {idle, "a check may take as long as a node may take to start, 100 s", nil},
	"healthcheck.retries":        {idle, "a node is asked for as long as it may take to start, 100 s", nil},
	"healthcheck.start_period":   {idle, "a node is asked for as long as it may take to start, 100 s", nil},
	"healthcheck.start_interval": {idle, "a node is asked every 50 ms until it is healthy", nil},

	"ports":              {within, "", nil},
	"ports.target":       {honoured, "as expose", nil},
	"ports.mode":         {honoured, "ingress alone", only("ingress", "take it out")},
	"ports.protocol":     {honoured, "tcp alone", only("tcp", "take it out: locks are served by TCP")},
	"ports.published":    {refused, "take it out: nodes are reached on the run's own network, by name; write expose", nil},
	"ports.host_ip":      {refused, "take it out: nodes are reached on the run's own network, by name; write expose", nil},
	"ports.name":         {refused, "take it out", nil},
	"ports.app_protocol": {refused, "take it out", nil},

	"volumes":                       {within, "", lookVolumes},
	"volumes.type":                  {honoured, "bind, volume and tmpfs", only("bind", plainMount, "volume", "tmpfs")},
	"volumes.source":                {honoured, "of a bind mount: a file or folder below the compose file's folder; others need --allow-host", nil},
	"volumes.target":                {honoured, "", lookTarget},
	"volumes.read_only":             {honoured, "a bind mount without it needs --allow-host", nil},
	"volumes.bind":                  {within, "", nil},
	"volumes.bind.create_host_path": {honoured, "nothing is made on the host: a source that is missing is refused", nil},
	"volumes.bind.selinux":          {refused, plainMount, nil},
	"volumes.bind.propagation":      {refused, plainMount, nil},
	"volumes.bind.recursive":        {refused, plainMount, nil},
	"volumes.volume":                {within, "", nil},
	"volumes.volume.nocopy":         {honoured, "", nil},
	"volumes.volume.subpath":        {refused, plainMount, nil},
	"volumes.volume.labels":         {refused, plainMount, nil},
	"volumes.tmpfs":                 {within, "", nil},
	"volumes.tmpfs.size":            {honoured, "", nil},
	"volumes.tmpfs.mode":            {honoured, "", nil},
	"volumes.image":                 {refused, plainMount, nil},
	"volumes.consistency":           {refused, "take it out", nil},

	"ulimits":        {within, "", nil},
	"ulimits.*":      {inDocker, "core, fsize, memlock, nofile, nproc and stack; others need --allow-host; each has a most that no flag lifts", lookUlimit},
	"ulimits.*.soft": {inDocker, "", nil}, "ulimits.*.hard": {inDocker, "", nil}, "ulimits.*.single": {inDocker, "", nil},

	"deploy":                                    {within, "", nil},
	"deploy.replicas":                           {honoured, "1 alone", only(1, "write one service for each node: redis-1, redis-2")},
	"deploy.resources":                          {within, "", nil},
	"deploy.resources.limits":                   {within, "", nil},
	"deploy.resources.limits.cpus":              {inDocker, "as cpus", lookPositive},
	"deploy.resources.limits.memory":            {inDocker, "as mem_limit", lookSize},
	"deploy.resources.limits.pids":              {inDocker, "as pids_limit", lookPositive},
	"deploy.resources.limits.devices":           {refused, "write devices", nil},
	"deploy.resources.limits.generic_resources": {refused, swarm, nil},
	"deploy.resources.reservations":             {refused, "take it out, or write mem_reservation", nil},
	"deploy.mode":                               {refused, swarm, nil},
	"deploy.labels":                             {refused, inFile, nil},
	"deploy.update_config":                      {refused, swarm, nil},
	"deploy.rollback_config":                    {refused, swarm, nil},
	"deploy.restart_policy":                     {refused, ownEnd, nil},
	"deploy.placement":                          {refused, swarm, nil},
	"deploy.endpoint_mode":                      {refused, swarm, nil},
	"depends_on":                                {refused, ownStart, nil},
	"build":                                     {refused, buildFirst, nil},
	"dockerfile":                                {refused, buildFirst, nil},
	"networks":                                  {refused, oneNetwork, nil},
	"net":                                       {refused, oneNetwork, nil},
	"network_mode":                              {refused, oneNetwork, nil},
	"links":                                     {refused, oneNetwork, nil},
	"external_links":                            {refused, oneNetwork, nil},
	"mac_address":                               {refused, oneNetwork, nil},
	"dns":                                       {refused, noWayOut, nil},
	"dns_opt":                                   {refused, noWayOut, nil},
	"dns_search":                                {refused, noWayOut, nil},
	"domainname":                                {refused, noWayOut, nil},
	"extra_hosts":                               {refused, noWayOut, nil},
	"privileged":                                {refused, "take it out, and name what is needed: cap_add, devices", nil},
	"pid":                                       {refused, ownSpace, nil},
	"ipc":                                       {refused, ownSpace, nil},
	"uts":                                       {refused, ownSpace, nil},
	"userns_mode":                               {refused, ownSpace, nil},
	"cgroup":                                    {refused, ownSpace, nil},
	"cgroup_parent":                             {refused, ownSpace, nil},
	"isolation":                                 {refused, ownSpace, nil},
	"runtime":                                   {refused, ownSpace, nil},
	"sysctls":                                   {refused, "take it out: a node has the kernel's own settings", nil},
	"blkio_config":                              {refused, useLimits, nil},
	"cpu_count":                                 {refused, useLimits, nil},
	"cpu_percent":                               {refused, useLimits, nil},
	"cpu_period":                                {refused, useLimits, nil},
	"cpu_quota":                                 {refused, useLimits, nil},
	"cpu_rt_period":                             {refused, useLimits, nil},
	"cpu_rt_runtime":                            {refused, useLimits, nil},
	"cpuset":                                    {refused, useLimits, nil},
	"cpu_shares":                                {refused, useLimits, nil},
	"mem_swappiness":                            {refused, useLimits, nil},
	"oom_kill_disable":                          {refused, useLimits, nil},
	"oom_score_adj":                             {refused, useLimits, nil},
	"storage_opt":                               {refused, useLimits, nil},
	"configs":                                   {refused, ownFiles, nil},
	"secrets":                                   {refused, ownFiles, nil},
	"credential_spec":                           {refused, ownFiles, nil},
	"device_cgroup_rules":                       {refused, "write devices", nil},
	"gpus":                                      {refused, "take it out: no lock is served by one", nil},
	"models":                                    {refused, "take it out", nil},
	"provider":                                  {refused, "take it out", nil},
	"develop":                                   {refused, "take it out", nil},
	"annotations":                               {refused, inFile, nil},
	"label_file":                                {refused, inFile, nil},
	"group_add":                                 {refused, "write user: uid:gid", nil},
	"init":                                      {refused, "take it out: a node's first process is dlmtest's agent, which reaps what others leave", nil},
	"attach":                                    {refused, ownLogs, nil},
	"logging":                                   {refused, ownLogs, nil},
	"log_driver":                                {refused, ownLogs, nil},
	"log_opt":                                   {refused, ownLogs, nil},
	"stdin_open":                                {refused, "take it out: a server's input is empty", nil},
	"tty":                                       {refused, "take it out: a server's input is empty", nil},
	"platform":                                  {refused, asImage, nil},
	"pull_policy":                               {refused, asImage, nil},
	"pull_refresh_after":                        {refused, asImage, nil},
	"container_name":                            {refused, ownName, nil},
	"pre_start":                                 {refused, ownStart, nil},
	"post_start":                                {refused, ownStart, nil},
	"pre_stop":                                  {refused, ownEnd, nil},
	"stop_grace_period":                         {refused, ownEnd, nil},
	"stop_signal":                               {refused, ownEnd, nil},
	"umask":                                     {refused, "take it out, and set it in the command", nil},
	"use_api_socket":                            {refused, "take it out: a node never sees the daemon's socket", nil},
	"volume_driver":                             {refused, plainMount, nil},
	"volumes_from":                              {refused, plainMount, nil},
}

// fields are all, by their path from the top of the file.
var fields = func() map[string]field {
	all := map[string]field{}
	for path, f := range projectFields {
		all[path] = f
	}
	for path, f := range serviceFields {
		all["services.*."+path] = f
	}
	return all
}()
