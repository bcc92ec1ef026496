.DEFAULT_GOAL := help
.PHONY: help install up down demo check generate verify test install-chart-tools chart e2e coverage bench fuzz soak clean
NODE := node_modules/.bin/node

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' Makefile

install: bootstrap ## install the packages and the real servers that are not there yet; HERALD_CACHE names a folder to share them
	@$(NODE) dev/install.ts

up: install ## start the real servers and print their addresses
	@$(NODE) dev/up.ts

down: bootstrap ## stop everything that was started here; data stays
	@$(NODE) dev/down.ts

demo: install ## run the whole system on the real servers and send one message on each channel
	@$(NODE) dev/demo.ts

check: bootstrap ## format, lint, types, unit tests, generated files fresh, promises kept; WITHOUT=name leaves one out
	@$(NODE) dev/check.ts $(if $(WITHOUT),--without $(WITHOUT))

generate: bootstrap ## write the generated files: CRDs, OpenAPI, docs
	@$(NODE) dev/generate.ts

verify: bootstrap ## fail when a generated file is stale
	@$(NODE) dev/generate.ts --check

test: install ## run the whole suite on real servers; FILTER=words or FILES=paths for a part
	@$(NODE) dev/test.ts $(if $(FILTER),--filter "$(FILTER)") $(FILES)

soak: install ## the tests that kill programs and take stores away, with the timing that users have and for longer; FILES=paths for a part
	@$(NODE) dev/soak.ts $(FILES)

install-chart-tools: bootstrap ## install the tools that judge the chart and are not there yet; HERALD_TOOLS names a folder of yours
	@$(NODE) dev/install-chart-tools.ts

chart: install install-chart-tools ## test the chart, its rules, dashboards and health checks, and the REST document; no node is needed
	@$(NODE) dev/chart.ts $(if $(FILTER),--filter "$(FILTER)") $(FILES)

e2e: install ## install the chart on a cluster with real nodes, given by KUBECONFIG and E2E_LOAD_IMAGE, and break it
	@$(NODE) dev/e2e.ts $(FILES)

coverage: install ## run the whole suite and report what of the programs it ran
	@node_modules/.bin/c8 $(NODE) dev/test.ts

bench: install ## measure, and print each figure when it is known; NAMES=some, SHORT=1 only tries all in seconds, BUSY=1 beside a busy core, SAVE=1 keeps
	@$(NODE) test/bench/main.ts $(if $(SHORT),--short) $(if $(BUSY),--busy) $(if $(SAVE),--save) $(NAMES)

fuzz: bootstrap ## attack the decoders of the HTTP/2 client; RUNS=number for each, SEED=number to do the same again, KEEP=1 keeps what is new
	@$(NODE) test/fuzz/main.ts $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED)) $(if $(KEEP),--keep)

clean: down ## stop everything and remove .dev: servers, data and logs
	@rm -rf --one-file-system .dev

.PHONY: bootstrap
bootstrap:
	@dev/bootstrap.sh
