import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subscription } from "#core/schema/people/subscription.ts";
import type { Person } from "../../../dev/demo/people.ts";
import {
  applySamples,
  applySecrets,
  appSecrets,
  awaitReady,
  namespace,
  readSecret,
  samplesFor,
} from "../../../dev/demo/resources.ts";
import { type Rest, restClient } from "../../../dev/demo/rest.ts";
import { type Addresses, addresses, keptSecrets } from "../../../dev/demo/settings.ts";
import { portOffsets } from "../../../dev/files/paths.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { type Simulators, simulatorOffsets, startSimulators } from "../../../dev/simulators/start.ts";
import { type Cluster, clusterOf, eventually, type KubeObject } from "./cluster/cluster.ts";
import { type Environment, readEnvironment } from "./cluster/environment.ts";
import { forward } from "./cluster/forward.ts";
import { inventory } from "./cluster/inventory.ts";
import { type Inbox, startInbox } from "./inbox.ts";
import { type LoadResult, startLoad } from "./load.ts";
import { certificates, nodePort, type Release, releaseName, releaseOf } from "./release.ts";

/** All that the tests share, from the first to the last: one installation that they do one thing after another to. */
export type System = {
  env: Environment;
  cluster: Cluster;
  release: Release;
  simulators: Simulators;
  apns: Simulator;
  inbox: Inbox;
  /** Where the REST interface, the simulators and the receiver are for the tests. */
  at: Addresses;
  /** Everything that was in the cluster before the release. */
  before: ReadonlySet<string>;
  /** Makes the namespaces, and what is in that of the release before it. */
  prepare: () => Promise<void>;
  /** Applies config/samples with addresses of this machine, and waits until they are true. */
  applySamples: () => Promise<string>;
  /** Applies what the samples read, Secrets and ConfigMaps, and waits until they, whom somebody else has applied, are true. */
  applyReferenced: () => Promise<void>;
  client: () => Promise<{ rest: Rest; token: string; appId: string }>;
  people: () => Promise<Person[]>;
  /** Does work while one user's notifications come at a steady pace; answers what came of them. */
  underLoad: (perSecond: number, work: () => Promise<void>) => Promise<LoadResult>;
  /** How many pushes and webhooks came more than once since the begin of the run. */
  doubled: () => { pushes: number; webhooks: number };
  close: () => Promise<void>;
};

let shared: Promise<System> | null = null;

/** The system of this run; it is set up at the first call. */
export const system = (): Promise<System> => {
  shared ??= start(readEnvironment(process.env));
  return shared;
};

const start = async (env: Environment): Promise<System> => {
  const cluster = clusterOf(env);
  const { dir, host, portBase } = env;
  rmSync(join(dir, "simulators"), { recursive: true, force: true });
  mkdirSync(join(dir, "demo"), { recursive: true });
  const simulators = await startSimulators({ portBase, dir: join(dir, "simulators"), addresses: [host] });
  const inbox = await startInbox(portBase + 15);
  const ports = [portOffsets.ferretdb, portOffsets.nats, portOffsets.redis, ...Object.values(simulatorOffsets), 15];
  const ends = await Promise.all(ports.map((offset) => forward(host, portBase + offset)));
  await prepare(cluster, simulators.credentials.tls.cert);
  const at = { ...addresses(portBase), rest: `http://${await nodeAddress(cluster)}:${nodePort}` };
  const apns = simulators.simulators.find(({ channel }) => channel === "ios_push");
  if (apns === undefined) throw new Error("there is no simulator of APNs");
  const parts = { env, cluster, release: releaseOf(env, cluster), simulators, apns, inbox, at };
  const uses = usesOf(parts);
  return {
    ...parts,
    ...uses,
    prepare: () => prepare(cluster, simulators.credentials.tls.cert),
    before: await inventory(cluster),
    close: async () => {
      await Promise.all(ends.map((end) => end()));
      await Promise.all([inbox.stop(), simulators.stop()]);
    },
  };
};

const namespaces = [releaseName, "monitoring", "elsewhere"];

/** The namespace refuses every pod that Pod Security "restricted" would; monitoring may read metrics, elsewhere may not. */
const prepare = async (cluster: Cluster, certificate: string): Promise<void> => {
  const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
  const items = [
    ...namespaces.map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, labels },
    })),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: certificates.name, namespace: releaseName },
      data: { [certificates.key]: certificate },
    },
  ];
  await cluster.kubectl(["apply", "-f", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
  for (const name of namespaces) {
    const own = ["serviceaccount/default", "configmap/kube-root-ca.crt"]; // controllers make them a moment later
    await eventually(`${own.join(" and ")} in ${name}`, 60_000, async () => {
      const { code } = await cluster.tryKubectl(["get", ...own, "--namespace", name]);
      return code === 0 ? true : null;
    });
  }
};

/** Of the first node, which stays up all the time. */
const nodeAddress = async (cluster: Cluster): Promise<string> => {
  const [node] = await cluster.nodes();
  return node?.status.addresses?.find(({ type }) => type === "InternalIP")?.address ?? "";
};

type Parts = Pick<System, "env" | "cluster" | "release" | "simulators" | "apns" | "inbox" | "at">;

const usesOf = ({ env, cluster, simulators, apns, inbox, at }: Parts) => {
  const kubectl = (args: readonly string[], input = "") => cluster.kubectl(args, { input });
  const client: System["client"] = async () => {
    const { token = "", base_url: baseUrl = "", app_id: appId = "" } = await readSecret(kubectl, "shop-backend");
    return { rest: restClient({ baseUrl, token }), token, appId };
  };
  const people: System["people"] = async () => {
    const { rest, appId } = await client();
    return Promise.all(persons.map((person) => register(rest, appId, person)));
  };
  const secrets = (): object[] => {
    const outside = Object.fromEntries(
      Object.entries(at).map(([name, url]) => [name, url.replace("127.0.0.1", env.host)]),
    ) as Addresses; // the same keys
    return appSecrets(simulators.credentials, keptSecrets(env.dir), outside);
  };
  return {
    client,
    people,
    applyReferenced: async () => {
      const samples = localSamples(env);
      const { items } = JSON.parse(await kubectl(["apply", "-f", samples, "--dry-run=client", "--output", "json"])) as {
        items: KubeObject[];
      };
      const configMaps = items.filter(({ kind }) => kind === "ConfigMap");
      await applySecrets(kubectl, [...secrets(), ...configMaps]);
      await awaitReady(kubectl, samples, () => undefined);
    },
    applySamples: async () => {
      const samples = localSamples(env);
      await applySamples(kubectl, samples, secrets());
      await awaitReady(kubectl, samples, () => undefined);
      inbox.addSecret((await readSecret(kubectl, "shop-events-signing"))["secret"] ?? "");
      return samples;
    },
    underLoad: async (perSecond: number, work: () => Promise<void>) => {
      const { token } = await client();
      await people();
      const load = startLoad({ url: `${at.rest}/v1/notifications`, token, perSecond, body: loadMessage });
      await work().catch(async (error: unknown) => {
        await load.stop();
        throw error;
      });
      return load.stop();
    },
    doubled: () => ({ pushes: apns.log.counts().repeated_keys, webhooks: inbox.repeated() }),
  };
};

const loadMessage = (n: number): object => ({
  target: { include_external_ids: ["ada"], channels: ["ios_push"] },
  headings: { en: `Message ${n}` },
  contents: { en: "Sent under load." },
});

/** config/samples name loopback and the standard ports. */
const localSamples = ({ portBase, dir, host }: Environment): string => {
  const copy = samplesFor(portBase, dir);
  for (const file of globSync(join(copy, "*.yaml"))) {
    writeFileSync(file, readFileSync(file, "utf8").replaceAll("127.0.0.1", host));
  }
  return copy;
};

type NewPerson = Pick<Person, "channel" | "externalId" | "address">;

const persons: readonly NewPerson[] = [
  { channel: "ios_push", externalId: "ada", address: "ada0".repeat(16) },
  { channel: "android_push", externalId: "ben", address: `e2e:${"ben0".repeat(8)}` },
  { channel: "email", externalId: "dora", address: "dora@example.com" },
];

const register = async (rest: Rest, appId: string, person: NewPerson): Promise<Person> => {
  const { channel, externalId, address: token } = person;
  await rest.post(`/v1/apps/${appId}/users`, { external_id: externalId, language: "en" });
  const path = `/v1/apps/${appId}/users/by/external_id/${externalId}/subscriptions`;
  return { ...person, subscription: await rest.post<Subscription>(path, { channel, token, status: "subscribed" }) };
};

export { namespace as samplesNamespace };
