# dlmtest. `make` lists the targets.
SHELL := /bin/bash
GO    ?= go
export CGO_ENABLED := 0
# What is compiled does not name the folder it stands in, so each clone of the tree takes it from Go's cache.
export GOFLAGS := $(strip $(GOFLAGS) -trimpath)
# Random tests draw the same in every `make test`, so that a red is the change's; `go test` draws anew.
export RAPID_SEED ?= 1
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
SUDO  := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
GOFILES = $$(git ls-files -co --exclude-standard '*.go')

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

.PHONY: deps
deps: ## install what is missing: mmdebstrap makes the base image where none can be pulled
	@$(GO) version >/dev/null 2>&1 || { echo "Go is missing: install it from https://go.dev/dl"; exit 1; }
	@timeout 60 docker info >/dev/null 2>&1 || { echo "no Docker daemon answers: apt-get install docker.io, then start it; one that hangs must be restarted"; exit 1; }
	@if ! command -v mmdebstrap >/dev/null && command -v apt-get >/dev/null; then \
	  echo "installing mmdebstrap"; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq mmdebstrap >/dev/null; fi

.PHONY: build
build: ## build bin/dlmtest, of the same compiled packages as vet and the tests
	@$(GO) build -ldflags "-s -w -X github.com/dlmtest/dlmtest.version=$(VERSION)" -o bin/dlmtest ./cmd/dlmtest

.PHONY: images
images: deps build ## build the images of servers and clients, if they are not there
	@bin/dlmtest images build

.PHONY: run
run: images ## the main job: five real Redis masters, a paused lock holder, a verdict
	@bin/dlmtest run --scenario gc-pause --backend redlock; code=$$?; \
	case $$code in \
	  0|1|2) echo; echo "make run: a verdict was reached (dlmtest run exited $$code; 1 means that a property is violated, which is expected of Redlock here)." ;; \
	  *) exit $$code ;; \
	esac

.PHONY: sample-compare
sample-compare: images ## run gc-pause on redlock, etcd and zookeeper and compare them: build/sample/compare.html
	@rm -rf build/sample/runs && mkdir -p build/sample/runs; dirs=; \
	for backend in redlock etcd zookeeper; do \
	  out=build/sample/runs/$$backend; \
	  bin/dlmtest run --scenario gc-pause --backend $$backend --lease 2s --seed 7 --out $$out; code=$$?; \
	  [ $$code -le 2 ] || exit $$code; \
	  dirs="$$dirs $$out/latest"; \
	done; \
	bin/dlmtest report $$dirs -o build/sample/compare.html

# Programs that tests start on loopback and in namespaces, without Docker; qemu runs the arm64 stubs,
# chromium opens the reports; the lock libraries of other languages are under test themselves.
SERVERS := chromium redis-server etcd-server etcd-client postgresql-15 openjdk-17-jdk-headless libzookeeper-java python3 qemu-user-static \
  libcurator-recipes-java libslf4j-java python3-kazoo python3-redis python3-etcd3

.PHONY: test-deps
test-deps: ## install the servers that tests start without Docker, and let them use /dev/fuse
	@if command -v apt-get >/dev/null && ! dpkg -s $(SERVERS) >/dev/null 2>&1; then \
	  echo "installing $(SERVERS)"; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(SERVERS) >/dev/null; fi
	@if [ -e /dev/fuse ] && [ "$$(stat -c %a /dev/fuse)" != 666 ]; then \
	  echo "opening /dev/fuse to every user, as udev does"; $(SUDO) chmod 666 /dev/fuse; fi

# A failed test of a real cluster on a busy machine is tried again where RERUN says so; both outcomes are printed.
rerun = $(if $(RERUN),--rerun-fails=$(RERUN) --rerun-fails-max-failures=20)

.PHONY: test
test: ## pass every test, those on real servers too; RERUN=1 tries up to twenty failed ones once more
	@unformatted=$$(gofmt -l $(GOFILES)); test -z "$$unformatted" || { echo "gofmt wants:" $$unformatted; exit 1; }
	@$(MAKE) --no-print-directory -j2 compiled ready
	@mkdir -p build
	RERUN="$(RERUN)" GO="$(GO)" $(GO) tool gotestsum --format pkgname --jsonfile build/test.json $(rerun) --ignore-non-json-output-lines --raw-command -- .ci/gotest

# Vet and compilers compute, and what the tests need is mostly waited for.
.PHONY: compiled
compiled: vet ## compile what the tests are linked of, with and without the race detector
	@$(GO) list -export -test ./... >/dev/null
	@if command -v gcc >/dev/null; then $(RACE_ENV) $(GO) list -race -export -test $(RACE_QUICK) ./nemesis/agent/lossy >/dev/null; fi

.PHONY: vet
vet: ## go vet of all packages
	$(GO) vet ./...

.PHONY: ready
ready: ## install and build what tests need, in turn, as apt-get cannot run beside another
	@MAKEFLAGS= $(MAKE) --no-print-directory test-deps images

.PHONY: test-random
test-random: ## the packages with random tests, N=10 times with draws of their own: before a release
	@RAPID_SEED=0 $(GO) test -vet=off -p 2 -timeout 120m -count $(or $(N),10) $$(grep -rl --include=*_test.go pgregory.net/rapid . | xargs -n1 dirname | sort -u)

.PHONY: test-install
test-install: images ## go install of this tree from a module proxy of files, and a run of the result in Docker: minutes
	INSTALL=1 $(GO) test . -count 1 -timeout 40m -v -run '^TestInstall$$'

.PHONY: test-quick
test-quick: ## the tests that need no Docker
	$(GO) test $$($(GO) list ./... | grep -vE '/(clusters|cli|runner)$$')

# Of the packages that start goroutines, those whose tests take seconds: make test runs them with the race detector.
RACE_QUICK := ./nemesis/agent/links/... ./locks/protocol ./locks/protocol/adapter ./history ./reports/serve ./internal/visible ./nemesis
# The detector makes each program that ends wait for a second, which tests of ends take for a hang.
RACE_ENV = CGO_ENABLED=1 GORACE=atexit_sleep_ms=0
RACE = $(RACE_ENV) $(GO) test -race -timeout 40m

.PHONY: test-race
test-race: test-deps images ## every package that starts a goroutine, with the race detector (needs gcc)
	$(RACE) -p 1 $$(.ci/goroutines)

.PHONY: test-race-quick
test-race-quick: ## some of them, in about a minute; without gcc it says so and does nothing
	@if command -v gcc >/dev/null; then \
	  $(RACE_ENV) $(GO) tool gotestsum --format pkgname $(rerun) --packages '$(RACE_QUICK)' -- -race -timeout 10m -vet=off -p 2 && \
	  $(RACE) -vet=off -run KilledProcess ./nemesis/agent/lossy; else echo "race detector: SKIPPED, gcc is missing"; fi

.PHONY: test-kubernetes
test-kubernetes: SERVERS += libseccomp-dev pkg-config
test-kubernetes: test-deps images ## run examples/kubernetes on a real control plane, kubelet and containerd that are built here: root, gcc; half an hour, later minutes; SCENARIOS= BACKENDS=
	@.ci/kubernetes

.PHONY: fuzz
fuzz: ## every fuzz target in turn, FUZZTIME=30s each
	@GO="$(GO)" FUZZTIME=$(or $(FUZZTIME),30s) .ci/fuzz

.PHONY: bench
bench: images ## print figures: RUNS=20 runs, ROUNDS=5 starts beside docker-compose, LOSSY=1 lossy file system, the judge
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkRun$$' -benchtime $(or $(RUNS),20)x ./cmd/cli
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkStartup$$' -benchtime $(or $(ROUNDS),5)x ./cmd/cli
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkLossy$$' -benchtime $(or $(LOSSY),1)x ./cmd/cli
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkChecker$$' -benchtime 1x ./cmd/cli

.PHONY: bench-lossy
bench-lossy: ## print each kind of call on the lossy file system beside a plain folder: root, a quiet machine
	@$(GO) test -timeout 30m -run '^$$' -bench . ./nemesis/agent/lossy

.PHONY: fault-check
fault-check: images ## measure every fault from outside, EACH=5 times in RUNTIMES=local,docker, and write docs/faults-measured.md; then the file system, N=200 workloads beside ext4 (root): a quarter of an hour
	@$(GO) test -count 1 -timeout 60m -v -run '^TestMeasured$$' ./runner/faultcheck -each $(or $(EACH),5) -runtimes $(or $(RUNTIMES),local$(comma)docker) -scenarios stops,network,disk,clocks,links,long-cuts -page $(abspath docs/faults-measured.md)
	@LOSSY_EXT4=$(or $(N),200) $(GO) test -count 1 -v -run '^(TestAgainstExt4|TestCrashWhileAKilledProcessEnds|TestMoreFilesThanDescriptors|TestLongTruncationTakesNoMemory)$$' ./nemesis/agent/lossy
	@$(GO) test -count 1 -v -run '^(TestThreadFlowsLaterThanAPing|TestAnEndIsDelayed|TestPauseAndKillReachDaemons|TestPauseWithAHoleIsMissed|TestDriftOfPythonIsRefused)$$' ./nemesis/agent/...

.PHONY: fault-ext4
fault-ext4: ## compare N=10000 random workloads, SEED=, with a real ext4 whose journal is replayed: root, a loop device, mkfs.ext4
	@LOSSY_EXT4=$(or $(N),10000) LOSSY_SEED=$(SEED) $(GO) test -count 1 -timeout 4h -v -run '^TestAgainstExt4$$' ./nemesis/agent/lossy

.PHONY: bench-triggers
bench-triggers: images ## print how much sooner triggers reach a violation than chance: SEEDS=20
	@$(GO) test -timeout 90m -run '^$$' -bench '^BenchmarkTriggers$$' -benchtime $(or $(SEEDS),20)x ./cmd/cli

.PHONY: bench-hunt
bench-hunt: build ## print how many trials a minute a hunt makes: FOR=2m, BACKENDS="redis etcd", RUNTIME=local, PARALLEL="1 2 4"
	@BACKENDS="$(or $(BACKENDS),redis)" FOR=$(or $(FOR),2m) RUNTIME=$(or $(RUNTIME),local) PARALLEL="$(PARALLEL)" $(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkHunt$$' -benchtime 1x ./cmd/cli

.PHONY: bench-nodes
bench-nodes: images ## print how many client nodes run baseline until a heartbeat is missed: RUNTIMES=local, FROM=10
	@RUNTIMES=$(RUNTIMES) FROM=$(FROM) $(GO) test -timeout 30m -run '^$$' -bench '^BenchmarkNodes$$' -benchtime 1x ./cmd/cli

.PHONY: bench-worker
bench-worker: test-deps ## print operations a second of a worker that records, beside the same libraries in a bare loop
	@$(GO) test -timeout 20m -run '^$$' -bench '^BenchmarkWorker$$' -benchtime $(or $(ROUNDS),1)x ./workloads

.PHONY: bench-check
bench-check: ## print figures of the models beside their goals, from files and beside Porcupine, and the judge on awkward shapes up to MOST=1000000; PLOT=file.svg draws them
	@PLOT=$(abspath $(PLOT)) $(GO) test -timeout 60m -run '^$$' -bench Goals -benchtime 1x ./checker/models
	@MOST=$(MOST) $(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkShapes$$' -benchtime 1x ./checker
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkEDN$$' -benchtime 1x ./checker/formats

.PHONY: bench-report
bench-report: test-deps ## print figures of the report of a million operations in a real Chromium: size, first paint, frames a second
	@$(GO) test -timeout 20m -run '^$$' -bench '^BenchmarkPage$$' -benchtime 1x ./reports/pages

.PHONY: bench-protocol
bench-protocol: ## print what the lock client protocol adds to a call, beside the same call in process
	@$(GO) test -run '^$$' -bench '^BenchmarkCall$$' -benchtime 2s ./locks/protocol

# A sample is what a run leaves: a verdict of any kind is one. It lies in a folder, so that its links lead somewhere.
sample = bin/dlmtest run --scenario gc-pause --backend $(1) --out build/samples/$(1); [ $$? -le 2 ] && mkdir -p $(2) && rm -rf $(2)/logs $(2)/violations && cp -rL build/samples/$(1)/latest/. $(2)

.PHONY: sample-report
sample-report: images ## run gc-pause on redlock and leave its report in build/sample/report.html
	@$(call sample,redlock,build/sample) && echo "build/sample/report.html"

.PHONY: docs-pictures
docs-pictures: test-deps sample-report ## draw the pictures of docs/reading-a-report.md anew, from two runs of now
	@$(call sample,etcd,build/samples/etcd-report)
	@PICTURES=$(abspath docs/img) REPORTS=$(abspath build) $(GO) test -count 1 -v -run '^TestPictures$$' ./reports/pages

CHOOSING := bin/dlmtest run --runtime $(or $(RUNTIME),auto) --seed $(or $(SEED),1) --parallel $(or $(PARALLEL),2)
REFERENCES := redis,redis-replicated,redlock,zookeeper,etcd,postgres,postgres-advisory

.PHONY: docs-choosing
docs-choosing: images ## run what docs/choosing.md tells of COUNT=3 times, and write it and its record anew: an hour; RUNTIME=local needs no Docker
	@rm -rf build/choosing; run() { $(CHOOSING) "$$@" || [ $$? -le 2 ]; }; set -e; \
	run --backend $(REFERENCES) --count $(or $(COUNT),3) --out build/choosing/locks --scenario baseline,gc-pause,gc-pause-read,clock-jump,token-amnesia,partition-halves,payment-pause,payment-key-pause; \
	run --backend $(REFERENCES) --count $(or $(COUNT),3) --out build/choosing/reads --scenario gc-pause,gc-pause-read --fence-on read; \
	run --backend $(REFERENCES) --out build/choosing/alone --scenario own-key --clients 1 --keys 1; \
	run --library redsync,redislock,rueidislock,etcd-concurrency,etcd-election,go-zookeeper,pglock,go-pglock,curator,kazoo,redis-py,python-etcd3 --count $(or $(COUNT),3) --out build/choosing/libraries --scenario gc-pause; \
	for b in redis etcd zookeeper postgres; do bin/dlmtest capacity --runtime $(or $(RUNTIME),auto) --backend $$b --json >build/choosing/$$b.json; done; \
	bin/dlmtest report choosing build/choosing/*/latest-matrix $(foreach b,redis etcd zookeeper postgres,--capacity build/choosing/$(b).json) --record docs/choosing.json >build/choosing/page.md; \
	mv build/choosing/page.md docs/choosing.md

# The scenarios of faults; kinds and uses of a lock have pages of their own.
FAULTS = $(shell sed -n '/^<!-- matrix -->/,/^<!-- end -->/s/^| \([a-z-]*\) |.*/\1/p' docs/findings.md | grep -v scenario | paste -sd,)

.PHONY: docs-findings
docs-findings: images ## run each scenario in the table of docs/findings.md COUNT=3 times on each reference lock, and write the table anew: an hour or more
	@rm -rf build/findings; bin/dlmtest run --runtime $(or $(RUNTIME),auto) --scenario $(FAULTS) --backend $(REFERENCES) --lease 2s --count $(or $(COUNT),3) --seed $(or $(SEED),100) --parallel $(or $(PARALLEL),2) --out build/findings; [ $$? -le 2 ]
	@bin/dlmtest report counts build/findings/latest-matrix >build/findings/table.md
	@sed -i -e '/^<!-- matrix -->$$/,/^<!-- end -->$$/{/^<!-- /!d}' -e '/^<!-- matrix -->$$/r build/findings/table.md' docs/findings.md

.PHONY: check-models
check-models: ## hold each model against Porcupine on N=1000000 random histories, and LONG=25 each of up to 1000, 3000 and 10000 operations
	@N=$(or $(N),1000000) LONG=$(LONG) $(GO) test -timeout 0 -count 1 -v -run Agrees ./checker/models | grep -vE 'draw (n|operations):|^=== '

.PHONY: check-histories
check-histories: ## judge every public history in DIR=folder by its manifest, put each to Porcupine, and print one table with the times
	@DLMTEST_HISTORIES=$(abspath $(or $(DIR),../shared/histories)) $(GO) test -timeout 20m -count 1 -v -run TestPublicHistories ./cmd/cli | grep -vE '^=== '; exit $${PIPESTATUS[0]}

.PHONY: mutants
mutants: ## plant mistakes in the checkers one at a time, SAMPLE=200 of them or all, in FILES=checker/claims.go,... or all: every one must be noticed by a test; goes on where it was stopped
	@$(GO) build -o build/mutants ./checker/models/mutants
	@nice -n 19 build/mutants -sample $(or $(SAMPLE),0) -only "$(FILES)" -results build/mutants.json $(or $(PACKAGES),./checker/models ./history/trace=./checker ./checker)

.PHONY: judge-power
judge-power: ## plant each defect in N=100 simulated histories, count what the judge sees, and write docs/judge.md
	@$(GO) test -timeout 60m -count 1 -v -run '^TestPower$$' ./checker/power -each $(or $(N),100) -page $(abspath docs/judge.md)

.PHONY: controls
controls: build ## run each lock that is broken on purpose, and baseline on each sound one, N=20 times and count: all of these must be caught, none of those red; RUNTIME=local, PARALLEL=2, PART=controls,sound
	@bin/dlmtest selftest --part $(or $(PART),controls$(comma)sound) --count $(or $(N),20) --parallel $(or $(PARALLEL),2) --runtime $(or $(RUNTIME),local) --out build/controls

comma := ,

.PHONY: gate-proof
gate-proof: build ## hold the gate against N=20 trees as they are and 20 with a planted bug; RUNTIME=local needs no Docker
	@N=$(or $(N),20) RUNTIME=$(or $(RUNTIME),auto) .ci/gate-proof

.PHONY: kill-proof
KILLED := run,matrix,gate,conform,corpus,hunt,shrink,capacity,selftest
kill-proof: images ## kill run, matrix, gate, conform, corpus, hunt, shrink, capacity and selftest at N=20 random moments each, in RUNTIME=local,docker, and their helpers, and count what is left; SEED= repeats one
	@KILLS=$(or $(N),20) KILL=$(or $(COMMANDS),$(KILLED)) KILL_RUNTIME=$(or $(RUNTIME),local$(comma)docker) KILL_SEED=$(SEED) \
	  $(GO) test -count 1 -timeout 4h -v -run '^TestKilled' ./cmd/cli

.PHONY: reliability-busy
reliability-busy: test-deps ## disturb N=200 short runs of sound locks on purpose (busy loops, stopped agents, full pipes), PARALLEL=3 at a time: none may be red; RUNTIMES="local docker"
	@BUSY=$(or $(N),200) PARALLEL=$(or $(PARALLEL),3) RUNTIMES="$(or $(RUNTIMES),local)" SEED=$(SEED) OUT=$(abspath build/reliability-busy) \
	  $(GO) test -timeout 120m -count 1 -v -run '^TestBusyMachine$$' ./cmd/cli

.PHONY: proto
proto: ## write the Go code of locks/lockpb/lock.proto anew: needs protobuf-compiler, its plugins are tools of go.mod
	@command -v protoc >/dev/null || { echo "protoc is missing: apt-get install protobuf-compiler"; exit 1; }
	@mkdir -p build/protoc && $(GO) build -o build/protoc/ google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
	@PATH="$(abspath build/protoc):$$PATH" protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative locks/lockpb/lock.proto

.PHONY: tidy
tidy: ## go mod tidy, also of the modules in examples (-e: tests of dependencies that are not to be found are left out)
	$(GO) mod tidy
	cd examples/gomodule && $(GO) mod tidy -e

.PHONY: lint
lint: ## golangci-lint, staticcheck, go mod tidy and govulncheck, built from the Go module proxy
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run
	$(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
	$(GO) mod tidy -diff
	@GO="$(GO)" .ci/vuln

# The newest that builds with the Go of go.mod.
RELEASER ?= GOFLAGS= $(GO) run github.com/goreleaser/goreleaser/v2@v2.15.0

.PHONY: man
man: build ## write the manual pages: build/man
	@rm -rf build/man && bin/dlmtest man build/man

.PHONY: completions
completions: build ## write the completions of bash, zsh and fish: build/completions
	@mkdir -p build/completions && for s in bash zsh fish; do bin/dlmtest completion $$s >build/completions/dlmtest.$$s || exit 1; done

.PHONY: image
image: build ## build the image dlmtest/dlmtest of the Dockerfile, with the servers: BASE=, IMAGE=
	@arch=$$($(GO) env GOARCH) && rm -rf build/image && mkdir -p build/image/linux/$$arch && cp bin/dlmtest build/image/linux/$$arch/ \
	  && docker build -q -t $(or $(IMAGE),dlmtest/dlmtest:latest) --build-arg TARGETPLATFORM=linux/$$arch $(if $(BASE),--build-arg BASE=$(BASE)) -f Dockerfile build/image

.PHONY: release
release: ## what .github/workflows/release.yml does of a tag: archives, checksums, the image, a draft on GitHub
	$(RELEASER) release --clean

.PHONY: release-snapshot
release-snapshot: ## the same of this tree, without publishing, and without the image (see make image): build/dist
	$(RELEASER) check
	$(RELEASER) release --snapshot --clean --skip=docker

.PHONY: clean
clean: ## remove what was built, the images too; runs are kept
	rm -rf bin build
	-docker image ls -q 'dlmtest/*' | sort -u | xargs -r docker image rm -f
