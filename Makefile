# Conclave. `make run` and `make test` are all a newcomer needs; both install
# what they need first (see .ci/deps; CONCLAVE_NO_INSTALL=1 only checks).

SHELL      := /bin/bash
VERSION    ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
STAMP      := -X conclave/app/base/version.Version=$(VERSION)
# The WebKitGTK of the window; macOS and Windows need no tag.
WEBKIT     := $(if $(filter Linux,$(shell uname -s)),webkit2_41,)
BIN        := build/bin
TOOL       := go tool -modfile=.ci/tools.mod
# Our Go; what lies below frontend/node_modules is other people's.
PACKAGES   := . ./app/... ./store/... ./plugins/... ./build/...
FUZZTIME   ?= 30s
GO_SOURCES := $(wildcard $(shell git ls-files --cached --others --exclude-standard '*.go' 'go.mod' 'go.sum' 'app/**' 'plugins/**' 2>/dev/null | sort -u))

.PHONY: run test places attack ten build wails icon dev race lint fmt gen libraries e2e bench check vet-systems check-wails fuzz deps-run deps-test clean always

run: deps-run ## build and open the window; without a display, one real turn in the terminal
	@$(MAKE) --no-print-directory build
	@.ci/run-demo

test: deps-test ## every test; ends with one line of counts
	@.ci/test

places: frontend/node_modules/.package-lock.json ## names each place that a new dialect, vendor, setting or panel lacks (CONTRIBUTING.md)
	@failed=0; \
	go test -trimpath ./app ./app/test/sourcetest || failed=1; \
	go test -trimpath -tags '$(WEBKIT)' ./app/core ./app/window ./app/plugin/host ./store \
	  -run 'Dialect|PagesTypes|Scene|Layout' || failed=1; \
	cd frontend && npx svelte-check --fail-on-warnings || failed=1; exit $$failed

ten: deps-test ## every test ten times, with two busy loops beside
	@.ci/ten

attack: deps-test build $(BIN)/conclave-dev ## every attack of docs/ATTACKS.md, with what stops it
	@.ci/attack

build: $(BIN)/conclave $(BIN)/conclave-worker $(BIN)/conclave-window ## the three programs, in build/bin

# The programs refuse a neighbour of another version, so a new version builds all of them.
$(BIN)/.version: always
	@mkdir -p $(BIN) && { echo '$(VERSION)' | cmp -s - $@ || echo '$(VERSION)' > $@; }

$(BIN)/conclave: $(GO_SOURCES) $(BIN)/.version
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w $(STAMP)' -o $@ ./app/cmd/conclave

$(BIN)/conclave-worker: $(GO_SOURCES) $(BIN)/.version
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w $(STAMP)' -o $@ ./app/cmd/conclave-worker

$(BIN)/conclave-window: $(GO_SOURCES) $(BIN)/.version frontend/dist/index.html
	CGO_ENABLED=1 go build -trimpath -tags 'desktop,production,$(WEBKIT)' -ldflags '-s -w $(STAMP)' -o $@ .

$(BIN)/conclave-dev: $(GO_SOURCES) $(BIN)/.version frontend/dist/index.html
	CGO_ENABLED=1 go build -trimpath -tags 'dev,$(WEBKIT)' -ldflags '$(STAMP)' -o $@ .

frontend/node_modules/.package-lock.json: frontend/package-lock.json
	cd frontend && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

frontend/dist/index.html: frontend/node_modules/.package-lock.json $(wildcard $(shell git ls-files --cached --others --exclude-standard 'frontend/src/**' 'frontend/*.html' 'frontend/*.ts' 'frontend/*.js' 2>/dev/null))
	cd frontend && npm run --silent build

wails: deps-run ## the window as Wails packages it (.app on macOS, icon and manifest in the .exe), with the other two programs beside it
	go run github.com/wailsapp/wails/v2/cmd/wails@$$(go list -m -f '{{.Version}}' github.com/wailsapp/wails/v2) build

icon: ## draw the icon's files below build again
	go run ./build/icon

dev: deps-run $(BIN)/conclave-dev $(BIN)/conclave-worker ## the window with the web inspector, served to a browser at localhost:34115 too
	$(BIN)/conclave-dev -devserver localhost:34115 -assetdir frontend/dist

race: frontend/dist/index.html ## all Go tests with the race detector; make test watches the packages that share state
	go test -race -trimpath -timeout 0 $(PACKAGES)

fuzz: ## each fuzz target for 30 s (FUZZTIME=5m for longer)
	@for p in $$(grep -rl --include='*_test.go' '^func Fuzz' app store | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]+' $$p/*_test.go | awk '{print $$2}'); do \
	    echo "$$p $$f"; go test ./$$p -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) || exit 1; done; done

lint: frontend/dist/index.html ## golangci-lint, and the window's own checks
	$(TOOL) golangci-lint run --config .ci/golangci.yml --build-tags '$(WEBKIT)' $(PACKAGES)
	cd frontend && npm run --silent check

fmt: ## gofumpt, goimports, prettier
	$(TOOL) golangci-lint fmt --config .ci/golangci.yml *.go app store plugins
	cd frontend && npx prettier --write --log-level warn .

gen: ## rewrite the golden files, which the suite of app/model/modeltest keeps
	go test $$(go list -f '{{range .TestImports}}{{$$.ImportPath}} {{.}}{{"\n"}}{{end}}{{range .XTestImports}}{{$$.ImportPath}} {{.}}{{"\n"}}{{end}}' ./app/model/... | \
	  awk '$$2 == "conclave/app/model/modeltest" {print $$1}' | sort -u) -update

LIBRARIES  := app/plugin/dialect/spindle/engine/prelude/library

libraries: ## copy the libraries of the JavaScript engine, in the versions of its package-lock.json
	cd $(LIBRARIES) && npm install --package-lock-only --silent && npm ci --silent && \
	  cp node_modules/web-streams-polyfill/dist/ponyfill.js web-streams-polyfill.js && \
	  cp node_modules/web-streams-polyfill/LICENSE web-streams-polyfill.LICENSE && rm -r node_modules

e2e: deps-test build frontend/dist/index.html ## the real window's program in Chromium, and the real window under Xvfb
	@.ci/e2e

bench: deps-test build $(BIN)/conclave-dev ## speed and size, as ratios against a floor or a peer
	@.ci/bench

vet-systems: frontend/dist/index.html ## go vet of everything, here and for macOS and Windows; compiles every library three times
	CGO_ENABLED=0 go vet -trimpath $(PACKAGES)
	for os in darwin windows; do GOOS=$$os CGO_ENABLED=0 go vet -trimpath $$(go list $(PACKAGES) | grep -vE '^conclave(/app/window(/desktop)?)?$$') || exit 1; done

check-wails: deps-run frontend/dist/index.html ## what wails build makes of it
	@.ci/wails

check: lint vet-systems check-wails test ## all that a reviewer runs

deps-run:
	@.ci/deps run

deps-test:
	@.ci/deps test

clean:
	rm -rf build/bin frontend/dist
