import { text as readText } from "node:stream/consumers";
import { allResources } from "#core/channels/all-resources.ts";
import { hasStatus } from "#core/runtime/kube/errors.ts";
import type { StatusDocument } from "#core/schema/status/status.ts";
import type { Cluster } from "../kit/cluster.ts";
import { isPodReady, programOf, programPods, programs, restartsOf } from "../kit/pods.ts";
import { apiserverServices, proxyPath } from "../rest/service.ts";

/** `unknown`: the caller may not look. */
export type Checked = { verdict: "pass" | "fail" | "unknown"; message: string };

type At = { cluster: Cluster; namespace: string | null; signal: AbortSignal; now: () => Date };

export type Checker = { check: string; make: (at: At) => Promise<Checked> };

const pass = (message: string): Checked => ({ verdict: "pass", message });
const fail = (message: string): Checked => ({ verdict: "fail", message });
const unknown = (message: string): Checked => ({ verdict: "unknown", message });

const kubernetes = async ({ cluster, signal }: At): Promise<Checked> => {
  const { gitVersion } = await cluster.client.call<{ gitVersion: string }>({ method: "GET", path: "/version" }, signal);
  return pass(gitVersion);
};

const mostSkewMs = 5_000; // tokens, leases and signatures stand a minute at least

/** The API server's clock beside this machine's; its answers say it to the second. */
const clock = async ({ cluster, signal, now }: At): Promise<Checked> => {
  const answer = await cluster.client.open({ method: "GET", path: "/version" }, signal);
  answer.resume();
  const theirs = Date.parse(answer.headers.date ?? "");
  if (Number.isNaN(theirs)) return unknown("the API server does not say its time");
  const skewMs = Math.max(0, Math.abs(now().getTime() - theirs) - 1_000);
  const text = `${Math.round(skewMs / 1_000)} s between this machine and the API server`;
  return skewMs > mostSkewMs ? fail(`${text}: set the clocks by NTP`) : pass(text);
};

const kinds = async ({ cluster, signal }: At): Promise<Checked> => {
  const served = new Set((await cluster.kinds(signal)).map(({ kind }) => kind));
  const missing = allResources.map(({ kind }) => kind).filter((kind) => !served.has(kind));
  return missing.length === 0
    ? pass(`${served.size} are served`)
    : fail(`not served: ${missing.join(", ")}; install the chart, or apply crds/`);
};

const running = async ({ cluster, namespace, signal }: At): Promise<Checked> => {
  const { items: pods, forbidden } = await programPods(cluster, namespace, signal);
  if (forbidden) return unknown("you may not list pods");
  if (pods.length === 0) return fail("there is no pod of Herald; -n names its namespace");
  const missing = programs.filter((program) => !pods.some((pod) => programOf(pod) === program && isPodReady(pod)));
  if (missing.length > 0)
    return fail(`no pod is ready of ${missing.join(", ")}: see kubectl describe pod, kubectl herald logs`);
  const late = pods.filter((pod) => !isPodReady(pod)).map(({ metadata }) => metadata.name);
  if (late.length > 0) return fail(`not ready: ${late.join(", ")}`);
  const restarts = pods.reduce((sum, pod) => sum + restartsOf(pod), 0);
  return pass(`${pods.length} pods are ready${restarts === 0 ? "" : `, restarted ${restarts} times in all`}`);
};

/** `status.json`, by the API server's proxy of the apiserver's Service: what the programs say of themselves and their stores. */
const service = async ({ cluster, namespace, signal }: At): Promise<Checked> => {
  const { items, forbidden } = await apiserverServices(cluster, namespace, signal);
  const [found] = items;
  if (forbidden) return unknown("you may not list Services");
  if (found === undefined) return fail("there is no Service of the apiserver; -n names its namespace");
  const proxy = `${proxyPath(found)}/status.json`;
  const text = await cluster.client.open({ method: "GET", path: proxy }, signal).then(readText, (error: unknown) => {
    if (hasStatus(error, 403)) return null;
    throw error;
  });
  if (text === null) return unknown("you may not get services/proxy");
  const { status, components } = JSON.parse(text) as StatusDocument; // sound: the apiserver of this release or another
  const troubled = components.filter((one) => one.status !== "operational").map((one) => `${one.name} ${one.status}`);
  return troubled.length === 0 ? pass(status) : fail(`${troubled.join(", ")}: see the dashboards and docs/runbooks.md`);
};

const accounts = async ({ cluster, namespace, signal }: At): Promise<Checked> => {
  const app = { kind: "App", plural: "apps", isNamespaced: true };
  const { items, forbidden } = await cluster.resources(app, null, signal);
  const seen = forbidden ? await cluster.resources(app, namespace ?? cluster.namespace, signal) : { items, forbidden };
  if (seen.forbidden) return unknown("you may not list Apps");
  const refused = seen.items.filter(({ status }) =>
    status?.conditions?.some(({ type, status: is }) => type === "AccountsVerified" && is === "False"),
  );
  return refused.length === 0
    ? pass(`of ${seen.items.length} Apps no account is refused`)
    : fail(
        `refused: ${refused.map(({ metadata }) => `${metadata.namespace ?? ""}/${metadata.name}`).join(", ")}; see kubectl herald status`,
      );
};

/** Every check, in the order of what stands on what. */
export const checkers: readonly Checker[] = [
  { check: "Kubernetes API", make: kubernetes },
  { check: "clock", make: clock },
  { check: "kinds", make: kinds },
  { check: "programs", make: running },
  { check: "service", make: service },
  { check: "provider accounts", make: accounts },
];
