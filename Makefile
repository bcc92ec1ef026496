.DEFAULT_GOAL := help
.PHONY: help install up down demo kubectl-herald check generate verify test soak install-chart-tools chart e2e coverage bench fuzz install-release-tools release clean
NODE := node_modules/.bin/node

help: ## list the targets
	@awk -F ':.*## ' '/^##@ / { printf "\n%s\n", substr($$0, 5) } /^[a-z0-9-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile

# What a long target says first.
say = @echo "herald: $(1)" >&2

##@ Try it

install: bootstrap ## install the packages and the real servers that are not there yet; HERALD_CACHE names a folder to share them
	@$(NODE) dev/install.ts
	$(call say,everything is installed; next: make demo or make up)

up: install-servers ## start the real servers and print their addresses
	$(call say,starting the servers: about 10 s)
	@$(NODE) dev/up.ts

down: bootstrap ## stop everything that was started here; data stays
	$(call say,stopping what was started here: a few seconds)
	@$(NODE) dev/down.ts

demo: install-servers ## run the whole system on the real servers and send one message on each channel
	$(call say,starting the servers and the whole system and sending a message on each channel: a quarter of a minute)
	@$(NODE) dev/demo.ts

kubectl-herald: bootstrap ## make kubectl herald, one file that needs Node.js 24 alone; TO names a folder of your PATH
	@$(NODE) dev/kubectl-plugin.ts $(or $(TO),.dev/bin)

##@ Change it

check: bootstrap ## format, lint, types, unit tests, generated files fresh, promises kept; WITHOUT=name leaves one out
	$(call say,everything that needs no server: about a minute)
	@$(NODE) dev/check.ts $(if $(WITHOUT),--without $(WITHOUT))
	$(call say,next: commit; make test shows it on real servers)

generate: bootstrap ## write the generated files: CRDs, OpenAPI, docs
	$(call say,writing the generated files that are stale: a few seconds)
	@$(NODE) dev/generate.ts

verify: bootstrap ## fail when a generated file is stale
	$(call say,comparing the generated files with their sources: a few seconds)
	@$(NODE) dev/generate.ts --check
	$(call say,next: make check)

##@ Judge it

test: install-for-tests ## run the whole suite on real servers; FILTER=words or FILES=paths for a part
	$(call say,the suite on real servers: some 15 min for all of it; FILES=path or FILTER=words runs a part)
	@$(NODE) dev/test.ts $(if $(FILTER),--filter "$(FILTER)") $(FILES)
	$(call say,next: commit; make soak after a change of leases or hand-overs; make chart after one of the chart)

soak: install-for-tests ## kill programs and take stores away, with the timing that users have, and for longer than make test; FILES=paths for a part
	$(call say,what kills programs and takes stores away with the timing that users have: about 30 min)
	@$(NODE) dev/soak.ts $(FILES)
	$(call say,next: commit)

install-chart-tools: bootstrap ## install the tools that judge the chart and are not there yet; HERALD_TOOLS names a folder of yours
	$(call say,getting what judges the chart unless it is there: up to 8 min)
	@$(NODE) dev/install-chart-tools.ts
	$(call say,next: make chart)

chart: install-for-tests install-chart-tools ## test the chart, its rules, dashboards and health checks, and the REST document; no node is needed
	$(call say,the chart with its rules and pages and the REST document: about 4 min)
	@$(NODE) dev/chart.ts $(if $(FILTER),--filter "$(FILTER)") $(FILES)
	$(call say,next: commit; make e2e installs it on real nodes)

e2e: install-for-tests ## install the chart on a cluster with real nodes, given by KUBECONFIG and E2E_LOAD_IMAGE, and break it
	$(call say,the chart on real nodes: about 9 min)
	@$(NODE) dev/e2e.ts $(FILES)
	$(call say,next: commit)

coverage: install-for-tests ## run the whole suite and report what of the programs it ran
	$(call say,the whole suite on the sources: more than 15 min)
	@node_modules/.bin/c8 $(NODE) dev/test.ts
	$(call say,next: coverage/index.html shows each line)

bench: install-for-tests ## measure, and print each figure when it is known; NAMES=some, SHORT=1 only tries all in seconds, BUSY=1 beside a busy core, SAVE=1 keeps
	$(call say,measuring takes minutes for each figure; NAMES=some measures some and SHORT=1 tries all in a minute)
	@$(NODE) test/bench/main.ts $(if $(SHORT),--short) $(if $(BUSY),--busy) $(if $(SAVE),--save) $(NAMES)
	$(call say,next: docs/performance.md says what to do about a figure that is not reached)

fuzz: bootstrap ## attack the decoders of the HTTP/2 client; RUNS=number for each, SEED=number to do the same again, KEEP=1 keeps what is new
	$(call say,attacking the decoders of the HTTP/2 client: about 3 min)
	@$(NODE) test/fuzz/main.ts $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep)
	$(call say,next: commit)

##@ Release it

install-release-tools: bootstrap ## install the tools that pack, push and sign a release and are not there yet; HERALD_TOOLS names a folder of yours
	$(call say,getting what makes a release unless it is there: up to 4 min)
	@$(NODE) dev/install-release-tools.ts
	$(call say,next: make release)

release: install-release-tools ## build image, chart, kinds, bills of materials and provenance; REGISTRY=host/path pushes, KEY=cosign.key signs, DOWNLOADS=url for krew, VERSION=, TO=folder
	$(call say,building a release of the commit that is checked out: a minute)
	@$(NODE) dev/release.ts --to $(or $(TO),.dev/release) $(if $(VERSION),--version $(VERSION)) $(if $(DOWNLOADS),--downloads $(DOWNLOADS)) $(if $(REGISTRY),--registry $(REGISTRY)) $(if $(KEY),--key $(KEY))

##@ Tidy up

clean: down ## stop everything and remove .dev: servers, data and logs
	$(call say,removing .dev)
	@rm -rf --one-file-system .dev
	$(call say,removed; next: make install brings the servers back)

.PHONY: bootstrap install-servers install-for-tests
install-servers: bootstrap
	@$(NODE) dev/install.ts

install-for-tests: bootstrap
	@$(NODE) dev/install.ts --tests

bootstrap:
	@dev/bootstrap.sh
