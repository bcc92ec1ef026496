import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import type { TObject } from "typebox";
import { parse, parseAllDocuments } from "yaml";
import { ApiserverConfig } from "#config/apiserver.ts";
import { DispatcherConfig } from "#config/dispatcher.ts";
import { OperatorConfig } from "#config/operator.ts";
import { allResources } from "#core/channels/all-resources.ts";
import { timings } from "#core/domain/timing.ts";
import {
  callbackStream,
  eventStream,
  formerEventStream,
  jobStream,
  planStream,
} from "#core/queue/jetstream/topology.ts";
import { loadConfig } from "#core/runtime/process/config.ts";
import { rootDir } from "../../dev/files/paths.ts";
import { nodeFlags } from "../../dev/processes/programs.ts";
import { testPartitioning } from "../support/rows/partitioning.ts";
import { chartDir, objectsIn, type Rendered, render, valuesFiles } from "./support/helm.ts";

const read = (...path: string[]): string => readFileSync(join(...path), "utf8");

type Schema = { properties?: Record<string, Schema>; additionalProperties?: boolean; description?: string };
type Container = { args: string[]; env: { name: string; value: string }[] };

const configs: Record<string, TObject> = {
  operator: OperatorConfig,
  apiserver: ApiserverConfig,
  dispatcher: DispatcherConfig,
};

describe("chart, image and programs", () => {
  const values = parse(read(chartDir, "values.yaml"), { merge: true }) as Record<string, unknown>;
  const schema = JSON.parse(read(chartDir, "values.schema.json")) as Schema;
  const manifest = JSON.parse(read(rootDir, "package.json")) as { version: string; scripts: Record<string, string> };

  it("start Node with the same flags everywhere", () => {
    const [, entrypoint = "[]"] = /^ENTRYPOINT (.*)$/m.exec(read(rootDir, "Dockerfile")) ?? [];
    expect(JSON.parse(entrypoint)).to.deep.equal(["node", ...nodeFlags]);
    for (const program of Object.keys(configs)) {
      expect(manifest.scripts[`start:${program}`]).to.equal(`node ${nodeFlags.join(" ")} ${program}/main.ts`);
    }
  });

  it("are of the same version", () => {
    const chart = parse(read(chartDir, "Chart.yaml")) as { appVersion: string };
    expect(chart.appVersion).to.equal(manifest.version);
  });

  it("show Artifact Hub every kind, with an example", () => {
    const { annotations } = parse(read(chartDir, "Chart.yaml")) as { annotations: Record<string, string> };
    const shown = parse(annotations["artifacthub.io/crds"] ?? "") as { name: string; kind: string }[];
    const examples = parse(annotations["artifacthub.io/crdsExamples"] ?? "") as { kind: string }[];
    const installed = readdirSync(join(rootDir, "crds")).map((file) =>
      file.replace(/^herald\.dev_(.*)\.yaml$/, "$1.herald.dev"),
    );
    expect(shown.map(({ name }) => name)).to.have.members(installed);
    expect(examples.map(({ kind }) => kind)).to.deep.equal(shown.map(({ kind }) => kind));
  });

  it("bring the plans of the samples", () => {
    const samples = parseAllDocuments(read(rootDir, "config/samples/00-plans.yaml"));
    const plans = samples.map((sample) => sample.toJS() as { metadata: { name: string }; spec: object });
    const expected = Object.fromEntries(plans.map(({ metadata, spec }) => [metadata.name, spec]));
    expect((values["plans"] as { items: object }).items).to.deep.equal(expected);
  });

  it("say of every value what it is, and give it a default", () => {
    const problems = valuePaths(schema).flatMap(({ path, described }) => [
      ...(described ? [] : [`${path} is not described`]),
      ...(isLeftOpen(path) || isGiven(values, path.split(".")) ? [] : [`${path} is not in values.yaml`]),
    ]);
    expect(problems).to.deep.equal([]);
  });

  it("let the operator see every kind", async () => {
    const [role] = objectsIn(await render(valuesFiles["trial"] ?? "", "x")).filter(isOperatorRole);
    const seen = role?.rules?.flatMap(({ apiGroups, resources }) => (apiGroups[0] === "herald.dev" ? resources : []));
    const plurals = allResources.map(({ plural }) => plural);
    expect(seen).to.have.members([...plurals, ...plurals.map((plural) => `${plural}/status`)]);
  });

  it("let KEDA watch consumers that there are", async () => {
    const [scaled = expect.fail("no ScaledObject")] = objectsIn(await render(valuesFiles["keda"] ?? "", "x")).filter(
      ({ kind }) => kind === "ScaledObject",
    );
    const { triggers } = scaled.spec as { triggers: { metadata: { stream?: string; consumer?: string } }[] };
    const watched = triggers.flatMap(({ metadata: { stream, consumer } }) => (stream ? [`${stream} ${consumer}`] : []));
    const plans = ["free", "gold"].map((name) => planStream("eu", { name, backlogPerTenant: 1 }, timings.short));
    const there = [
      ...plans,
      eventStream("eu", timings.short, testPartitioning),
      formerEventStream("eu", timings.short),
      jobStream("eu", timings.short),
      callbackStream("eu", timings.short),
    ].flatMap(({ stream, consumers }) => consumers.map(({ durable_name }) => `${stream.name} ${durable_name}`));
    expect(watched).to.have.members(there);
  });

  for (const [name, path] of Object.entries(valuesFiles)) {
    it(`give each program settings that it knows and takes, for ${name}`, async () => {
      for (const object of objectsIn(await render(path, "x")).filter(({ kind }) => kind === "Deployment")) {
        const { args, env } = containerOf(object);
        const config = configs[args[0]?.split(".")[0] ?? ""] ?? expect.fail(`no program ${args[0]}`);
        const known = Object.values(config.properties).map((property) => (property as unknown as { env: string }).env);
        const herald = env.filter(({ name: variable }) => variable.startsWith("HERALD_"));
        expect(known).to.include.members(herald.map((variable) => variable.name.replace(/_FILE$/, "")));
        expect(() => loadConfig(config, Object.fromEntries(herald.map(asGiven)))).not.to.throw();
      }
    });
  }
});

/** Values that have no default: Helm's own, and alternatives to what has one. */
const isLeftOpen = (path: string): boolean =>
  path === "global" || path.endsWith(".minAvailable") || path.endsWith(".resources.limits.cpu");

const isOperatorRole = ({ kind, metadata }: Rendered): boolean =>
  kind === "ClusterRole" && metadata.name === "herald-operator-x";

/** The paths of all single values and open groups. */
const valuePaths = (schema: Schema, path = ""): { path: string; described: boolean }[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, property]) => {
    const at = path === "" ? name : `${path}.${name}`;
    const isGroup = property.properties !== undefined && property.additionalProperties === false;
    const inner = isGroup ? valuePaths(property, at) : [];
    return [{ path: at, described: Boolean(property.description) }, ...inner];
  });

const isGiven = (values: unknown, [name, ...rest]: string[]): boolean => {
  if (name === undefined) return true;
  const isGroup = typeof values === "object" && values !== null && name in values;
  return isGroup && isGiven((values as Record<string, unknown>)[name], rest);
};

const containerOf = ({ spec }: Rendered): Container => {
  const { template } = spec as { template: { spec: { containers: Container[] } } }; // sound: it is a Deployment
  return template.spec.containers[0] ?? expect.fail("a Deployment without a container");
};

/** What the mounted files would hold. */
const contents: Record<string, string> = {
  HERALD_MONGODB_URL_FILE: "mongodb://mongo",
  HERALD_NATS_URL_FILE: "nats://nats",
  HERALD_REDIS_URL_FILE: "redis://redis",
  HERALD_NATS_CREDENTIALS_FILE: "-----BEGIN NATS USER JWT-----",
  HERALD_KEY_RING_FILE: `k1:${Buffer.alloc(32).toString("base64")}`,
  HERALD_MAIL_URL_FILE: "smtps://mail",
  HERALD_S3_ACCESS_KEY_ID_FILE: "AKIA",
  HERALD_OTLP_HEADERS_FILE: "authorization=Bearer%20x",
  HERALD_S3_SECRET_ACCESS_KEY_FILE: "secret",
};

const asGiven = ({ name, value }: { name: string; value: string }): [string, string] =>
  name in contents ? [name.replace(/_FILE$/, ""), contents[name] ?? ""] : [name, value];
