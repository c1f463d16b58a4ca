# dlmtest. `make` lists the targets.
SHELL := /bin/bash
GO    ?= go
export CGO_ENABLED := 0
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo development)
SUDO  := $(shell [ "$$(id -u)" = 0 ] || echo sudo)
GOFILES = $$(git ls-files -co --exclude-standard '*.go')

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

.PHONY: deps
deps: ## install what is missing: mmdebstrap makes the base image where none can be pulled
	@$(GO) version >/dev/null 2>&1 || { echo "Go is missing: install it from https://go.dev/dl"; exit 1; }
	@docker info >/dev/null 2>&1 || { echo "no Docker daemon answers: apt-get install docker.io, then start it"; exit 1; }
	@if ! command -v mmdebstrap >/dev/null && command -v apt-get >/dev/null; then \
	  echo "installing mmdebstrap"; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq mmdebstrap >/dev/null; fi

.PHONY: build
build: ## build bin/dlmtest
	@$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/dlmtest ./cmd/dlmtest

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

# Programs that tests start on loopback and in namespaces, without Docker.
SERVERS := redis-server etcd-server etcd-client postgresql-15 openjdk-17-jre-headless libzookeeper-java python3

.PHONY: test-deps
test-deps: ## install the servers that tests start without Docker
	@if command -v apt-get >/dev/null && ! dpkg -s $(SERVERS) >/dev/null 2>&1; then \
	  echo "installing $(SERVERS)"; \
	  $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $(SERVERS) >/dev/null; fi

.PHONY: test
test: test-deps images ## pass every test, those on real servers too
	@unformatted=$$(gofmt -l $(GOFILES)); test -z "$$unformatted" || { echo "gofmt wants:" $$unformatted; exit 1; }
	$(GO) vet ./...
	$(GO) test -p 1 -timeout 30m ./...

.PHONY: test-quick
test-quick: ## the tests that need no Docker
	$(GO) test $$($(GO) list ./... | grep -vE '/(clusters|cmd/dlmtest|runner)$$')

.PHONY: test-race
test-race: ## the tests that need no Docker, with the race detector (needs gcc)
	CGO_ENABLED=1 $(GO) test -race $$($(GO) list ./... | grep -vE '/(clusters|cmd/dlmtest|runner)$$')

.PHONY: bench
bench: images ## print figures: RUNS=20 runs, ROUNDS=5 starts beside docker-compose, the judge
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkRun$$' -benchtime $(or $(RUNS),20)x ./cmd/dlmtest
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkStartup$$' -benchtime $(or $(ROUNDS),5)x ./cmd/dlmtest
	@$(GO) test -timeout 60m -run '^$$' -bench '^BenchmarkChecker$$' -benchtime 1x ./cmd/dlmtest

.PHONY: lint
lint: ## golangci-lint, built from the Go module proxy
	$(GO) run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0 run

.PHONY: clean
clean: ## remove what was built, the images too; runs are kept
	rm -rf bin build
	-docker image ls -q 'dlmtest/*' | sort -u | xargs -r docker image rm -f
