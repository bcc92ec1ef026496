import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";
import { watchLevels, watchWaiting } from "#core/runtime/metrics/dispatcher.ts";
import { createProcessMetrics } from "#core/runtime/metrics/registry.ts";
import { watchWebhookLevels } from "#core/runtime/metrics/webhooks.ts";
import { rootDir } from "../../../dev/files/paths.ts";
import { makeStores } from "../../../operator/engine/stores.ts";
import { allKinds } from "../../../operator/kinds/all.ts";
import { watchLevels as watchOperatorLevels } from "../../../operator/levels.ts";
import { alerts, records, selectorsOf, shown } from "../../support/pages/rules.ts";
import { allFirst, firstOf } from "../../support/pages/runbooks.ts";

const runbooks = readFileSync(join(rootDir, "docs/runbooks.md"), "utf8");

/** Names of all that the three programs measure, as they are scraped. */
const exported = (): Set<string> => {
  const { apiserver, dispatcher, operator } = {
    apiserver: createProcessMetrics("apiserver").registry,
    dispatcher: createProcessMetrics("dispatcher").registry,
    operator: createProcessMetrics("operator").registry,
  };
  watchDependencies(apiserver, {});
  watchLevels(dispatcher, { unsaved: () => 0, unsavedLimit: 1, openBreakers: () => ({}) });
  watchWaiting(dispatcher, { sum: () => 0 });
  watchWebhookLevels(dispatcher, { endpointQueues: () => 0, inFlight: () => 0, partitions: () => 0 });
  watchOperatorLevels(operator, { stores: makeStores(allKinds), streams: async () => [] });
  const names = [apiserver, dispatcher, operator].flatMap((registry) =>
    registry.getMetricsAsArray().map(({ name }) => name),
  );
  return new Set(names.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]));
};

/** Metrics that name the ten loudest tenants, and what is recorded of them. */
const bounded = /\b(herald_tenant_\w+|herald:others_webhook_backlog)\b/;

describe("alerts and dashboards", () => {
  it("name only metrics that the programs export, or that a rule records", () => {
    const known = new Set([...exported(), ...records.map(({ record }) => record)]);
    const queries = allFirst().filter(({ language }) => language === "promql");
    expect(queries).to.not.be.empty;
    const asked = [...alerts, ...records, ...shown].map(({ expr }) => expr).concat(queries.map(({ text }) => text));
    const read = asked.flatMap((expr) => selectorsOf(expr));
    expect(read).to.have.length.above(100);
    expect(read.map(({ metric }) => metric).filter((metric) => !known.has(metric))).to.deep.equal([]);
  });

  it("tell what is wrong, how bad it is and where the runbook stands", () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(["critical", "warning", "info"], alert).to.include(labels.severity);
      expect(annotations.summary, alert).to.have.length.above(10);
      expect(annotations.description, alert).to.have.length.above(20);
      expect(annotations.runbook_url).to.equal(`https://herald.dev/docs/runbooks.md#${alert.toLowerCase()}`);
    }
  });

  it("have a runbook each, and each runbook has an alert", () => {
    const sections = [...runbooks.matchAll(/^### (\w+)$/gm)].map(([, name = ""]) => name);
    expect(sections.sort()).to.deep.equal(alerts.map(({ alert }) => alert).sort());
  });

  it("begin their runbook with a command where a test fires them, and only there", () => {
    const fired = globSync("test/chart/observe/fired/*.ts", { cwd: rootDir })
      .map((path) => readFileSync(join(rootDir, path), "utf8"))
      .join("\n");
    const names = alerts.map(({ alert }) => alert);
    expect(names.filter((name) => fired.includes(`"${name}"`))).to.deep.equal(
      names.filter((name) => firstOf(name) !== null),
    );
  });

  it("are explained by log events that there are", () => {
    const documented = [...new Set([...runbooks.matchAll(/`([a-z_]+\.[a-z_]+)`/g)].map(([, name = ""]) => name))];
    const sources = globSync("{core,apiserver,dispatcher,operator}/**/*.ts", { cwd: rootDir });
    const code = sources.map((path) => readFileSync(join(rootDir, path), "utf8")).join("\n");
    expect(documented).to.have.length.above(4);
    expect(documented.filter((name) => !code.includes(`"${name}"`))).to.deep.equal([]);
  });

  it("say on every panel what it shows, and name none but the loudest tenants", () => {
    expect(shown).to.have.length.above(50);
    for (const { where, expr, description, unit } of shown) {
      expect(description, where).to.have.length.above(3);
      expect(unit, where).to.be.a("string");
      expect(expr, where).to.include('namespace=~"$namespace"');
      expect(expr, where).not.to.match(/ten_|app_/);
      if (!bounded.test(expr)) expect(expr, where).not.to.include("tenant");
    }
  });
});
