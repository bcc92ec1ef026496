import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { addresses } from "../../../dev/demo/settings.ts";
import { storeImages } from "../../../dev/e2e/store-images.ts";
import { portOffsets } from "../../../dev/files/paths.ts";
import { command } from "../../../dev/processes/run-command.ts";
import { type Cluster, eventually, isReady, type KubeObject } from "./cluster/cluster.ts";
import type { Environment } from "./cluster/environment.ts";

/** Name of the release and of its namespace. */
export const releaseName = "herald";
export const programs = ["operator", "apiserver", "dispatcher"] as const;
export type ProgramName = (typeof programs)[number];

/** A ConfigMap of the namespace with the certificate that the simulators present. */
export const certificates = { name: "simulators", key: "ca.crt" } as const;
export const nodePort = 30_080;

const helmTimeoutMs = 320_000; // above helm's own, so that helm is who says what it waited for
const spreadWithinMs = 400_000;
const settledWithinMs = 240_000; // on a busy machine a Node.js program takes a minute to start

export type Release = ReturnType<typeof releaseOf>;

/** The chart in the cluster, handled by helm as its user would. */
export const releaseOf = (env: Environment, cluster: Cluster) => {
  const named = [releaseName, "--namespace", releaseName];
  const wait = ["--wait", "--timeout", "5m"];
  const values = join(env.dir, "values.json");
  const helm = (args: readonly string[]) => command([env.helm, ...args], { timeoutMs: helmTimeoutMs });
  const set = (changes: readonly string[]) => changes.flatMap((change) => ["--set", change]);
  const pods = async (program: ProgramName): Promise<KubeObject[]> =>
    cluster.list(["pods", "--namespace", releaseName, "--selector", selector(program)]);
  const allPods = async (): Promise<KubeObject[][]> => {
    const all = await cluster.list(["pods", "--namespace", releaseName, "--selector", instance]);
    return programs.map((program) => all.filter(({ metadata }) => metadata.labels?.[component] === program));
  };
  /** Waits until two pods of each program are ready and no other is left. */
  const settled = async (): Promise<void> => {
    await eventually("two ready pods of each program and no other", settledWithinMs, async () => {
      const all = await allPods();
      return all.every((some) => some.length === 2 && some.every(isReady)) ? true : null;
    });
  };
  /** Installs the chart with these values, which go before those of the files. */
  const install = async (own: object, ...files: string[]): Promise<void> => {
    writeFileSync(values, JSON.stringify(own), { mode: 0o600 });
    await helm([
      "install",
      ...named,
      "charts/herald",
      ...[...files, values].flatMap((file) => ["--values", file]),
      ...wait,
    ]);
  };
  return {
    install: (publicUrl: string) => install({ ...programValues(env, publicUrl), ...storesBeside(env) }),
    /** With the chart's own values and stores for trials, on volumes of a class. */
    installTrial: (publicUrl: string, storageClass: string) =>
      install({ ...programValues(env, publicUrl), ...bundledStores(storageClass) }, "charts/herald/values-trial.yaml"),
    upgrade: (...changes: string[]) =>
      helm(["upgrade", ...named, "charts/herald", "--reuse-values", ...set(changes), ...wait]),
    rollback: () => helm(["rollback", ...named, ...wait]),
    test: () => helm(["test", ...named, "--logs", "--timeout", "2m"]),
    uninstall: () => helm(["uninstall", ...named, "--ignore-not-found", ...wait]),
    isInstalled: async () =>
      JSON.parse(await helm(["list", "--namespace", releaseName, "--output", "json"])).length > 0,
    /** The file with the values of the last installation. */
    values,
    pods,
    allPods,
    settled,
    /** Has the pods of each program on different nodes again: those that were moved stay on one node by themselves. */
    spread: async () => {
      await eventually("the pods of each program on different nodes", spreadWithinMs, async () => {
        await settled();
        const all = await allPods();
        const onOneNode = all.filter(([one, other]) => one?.spec.nodeName === other?.spec.nodeName);
        const names = onOneNode.map(([one]) => one?.metadata.name ?? "");
        if (names.length > 0)
          await cluster.kubectl(["delete", "pod", "--namespace", releaseName, "--wait=false", ...names]);
        return names.length === 0 ? true : null;
      });
    },
  };
};

const instance = `app.kubernetes.io/instance=${releaseName}`;
const component = "app.kubernetes.io/component";
export const selector = (program: ProgramName): string => `${instance},${component}=${program}`;

/** The stores are on this machine, and the programs may go to nothing else on it for them. */
const storesBeside = ({ host, portBase }: Environment): object => {
  const port = (name: keyof typeof portOffsets) => portBase + portOffsets[name];
  const store = (name: keyof typeof portOffsets, scheme: string, path = "") => ({
    url: `${scheme}://${host}:${port(name)}${path}`,
    networkPolicy: { ports: [port(name)], to: [{ ipBlock: { cidr: `${host}/32` } }] },
  });
  return {
    mongodb: store("ferretdb", "mongodb", "/?directConnection=true"),
    nats: store("nats", "nats"),
    redis: store("redis", "redis"),
  };
};

/** The stores are the chart's, in images of the servers that are beside it otherwise. */
const bundledStores = (storageClass: string): object => {
  const image = (store: keyof typeof storeImages) => {
    const [repository, tag] = storeImages[store].split(":");
    return { registry: "", repository, tag };
  };
  const persistence = { storageClass };
  return {
    mongodb: { bundled: { image: image("mongodb"), postgres: { image: image("postgres") }, persistence } },
    nats: { bundled: { image: image("nats"), persistence } },
    redis: { bundled: { image: image("redis"), persistence } },
    files: { bundled: { storageClass } },
  };
};

/** The providers' simulators are on this machine. */
const programValues = ({ host, portBase, images }: Environment, publicUrl: string): object => {
  const at = addresses(portBase);
  const outside = (url: string) => url.replace("127.0.0.1", host);
  return {
    image: { repository: images.repository, tag: images.tags[0] },
    publicUrl,
    outgoing: { allowedRanges: [`${host}/32`] },
    trustedCertificates: { configMap: certificates.name, key: certificates.key },
    apiserver: {
      service: { type: "NodePort", nodePort },
      extraEnv: [{ name: "HERALD_FIRST_DAY_MESSAGES", value: "0" }], // the organisation is younger than a day
    },
    dispatcher: {
      extraEnv: [
        { name: "HERALD_APNS_URL", value: outside(at.apns) },
        { name: "HERALD_APNS_CHANNELS_URL", value: outside(at.apns) },
        { name: "HERALD_FCM_URL", value: outside(at.fcm) },
        { name: "HERALD_TWILIO_URL", value: outside(at.twilio) },
        { name: "HERALD_TWILIO_CONTENT_URL", value: outside(at.twilio) },
        { name: "HERALD_VONAGE_URL", value: outside(at.vonage) },
        { name: "HERALD_META_URL", value: outside(at.meta) },
        { name: "HERALD_HMS_URL", value: outside(at.hms) },
        { name: "HERALD_HMS_OAUTH_URL", value: outside(at.hms) },
      ],
    },
  };
};
