import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { findTool } from "../../../../dev/files/find-tool.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { type Installation, installation } from "../../../integration/operator/support/harness.ts";
import { type Link, linkTo } from "../../../integration/operator/support/proxy.ts";
import { type PrivateServer, privateServers, testServers } from "../../../support/servers/servers.ts";
import { type Posted, post, type Sending, seedDevices, startSending } from "../../../support/system/sending.ts";
import type { SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";
import { type Inbox, startInbox } from "../../../support/webhooks/inbox.ts";
import { addEndpoint, loopbackAllowed } from "../../../support/webhooks/traffic.ts";
import { type Prometheus, startPrometheus } from "../prometheus.ts";
import { firstLook } from "./first-look.ts";
import { quickRules } from "./quick-rules.ts";

/** Where nobody listens. */
export const nowhere = "127.0.0.1:9";
/** It only ends what hangs. */
export const withinMs = 240_000;
/** So many recipients may be handed to providers and not yet stored. */
const mostUnsaved = 20;

/** An installation in which things break, watched by a Prometheus with the chart's rules. `cutOff` is an apiserver without Redis. */
export type Planted = {
  herald: Installation;
  sending: Sending;
  stores: Record<"mongodb" | "nats", PrivateServer>;
  /** Where endpoints are that can be reached. */
  inbox: Inbox;
  /** The operator's way to the API server. */
  link: Link;
  programs: Record<"operator" | "apiserver" | "cutOff" | "dispatcher", SystemProgram>;
  /** Waits until alerts fire, and does something again and again meanwhile if that is given. */
  fires: (alerts: readonly string[], again?: () => Promise<unknown>) => Promise<void>;
  /** Waits until alerts fire, or have fired since everything began: what they are about was planted before. */
  fired: (alerts: readonly string[]) => Promise<void>;
  /** Waits until a query finds something, and does something again and again meanwhile. */
  finds: (query: string, again: () => Promise<unknown>) => Promise<void>;
  /** Does what an alert's runbook begins with, until it shows all of these words. */
  shows: (alert: string, ...words: string[]) => Promise<void>;
  /** Ids of so many new devices. */
  devices: (count: number) => Promise<string[]>;
  /** Asks for a message to devices. */
  sendTo: (ids: readonly string[], by?: SystemProgram, more?: object) => Promise<Posted>;
  close: () => Promise<void>;
};

/** Starts all of that. What was started is stopped when a part fails. */
export const plant = async (): Promise<Planted> => {
  const stack = new AsyncDisposableStack();
  try {
    return await planted(stack);
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

const planted = async (stack: AsyncDisposableStack): Promise<Planted> => {
  const program = findTool("prometheus") ?? expect.fail("prometheus is missing: make install-chart-tools");
  const dir = await mkdtemp(join(tmpdir(), "fired-"));
  stack.defer(() => rm(dir, { recursive: true, force: true }));
  await testServers();
  const stores = await privateServers({ mongodb: true, nats: true, redis: true });
  stack.defer(() => stores.close());
  const herald = await installation();
  stack.defer(() => herald.close());
  const [mongodbUrl, natsUrl, redisUrl] = [stores.mongodb.url, stores.nats.url, stores.redis.url];
  const sending = await startSending({ mongodbUrl, natsUrl, redisUrl });
  stack.defer(() => sending.close());
  const inbox = await startInbox();
  stack.defer(() => inbox.stop());
  await addEndpoints(sending, inbox);
  const [port = 0] = await freePorts(1);
  const link = await linkTo(herald.servers.kubeconfig);
  stack.defer(() => link.close());
  const programs = await startAll({ herald, sending, link, prometheusUrl: `http://127.0.0.1:${port}` });
  stack.defer(async () => {
    // whatever was left away: what is stopped after this uses them
    for (const store of [stores.mongodb, stores.nats]) await store.start().catch(() => undefined);
  });
  const targets = Object.entries(programs).map(([pod, { healthUrl }]) => ({
    address: new URL(healthUrl).host,
    labels: { namespace: "herald", pod },
  }));
  const prometheus = await startPrometheus(program, { targets, ruleFiles: await quickRules(dir), port });
  stack.defer(() => prometheus.stop());
  await until(async () => (await prometheus.query("up == 1")).length === targets.length, withinMs);
  return {
    herald,
    sending,
    stores,
    inbox,
    link,
    programs,
    ...watching(herald, prometheus, programs),
    devices: async (count) => (await seedDevices(sending.system, count)).map(({ _id }) => _id),
    sendTo: (ids, by = programs.apiserver, more = {}) =>
      post(sending.system, by, { target: { include_subscription_ids: ids }, ...more }),
    close: () => stack.disposeAsync(),
  };
};

/** Names of custom events by what becomes of them. */
export const eventNames = { slow: "slow", unreachable: "unreachable", hanging: "hanging" } as const;

const elevenMinutesMs = 660_000;

/** Before a dispatcher starts: of those that come later and untold it hears after a minute. Some have failed for long. */
const addEndpoints = async ({ system }: Sending, { url }: Inbox): Promise<void> => {
  await addEndpoint(system, { url: `${url}/slow`, names: [eventNames.slow], rate_per_second: 2 });
  const failing = { failure_count: 9, streak_since: new Date(Date.now() - elevenMinutesMs) }; // one failure before it counts
  for (let n = 0; n < 10; n++)
    await addEndpoint(system, { url: `http://${nowhere}/`, names: [eventNames.unreachable], ...failing });
};

const startAll = async ({
  herald: { settings },
  sending: { system },
  link,
  prometheusUrl,
}: Pick<Planted, "herald" | "sending" | "link"> & { prometheusUrl: string }): Promise<Planted["programs"]> => {
  const traces = { HERALD_OTLP_ENDPOINT: `http://${nowhere}`, HERALD_TRACE_RATIO: "1" };
  const judged = { HERALD_PROMETHEUS_URL: prometheusUrl, HERALD_PROMETHEUS_SELECTOR: 'namespace="herald"' };
  const cluster = { KUBECONFIG: link.kubeconfig, HERALD_OPERATOR_SELECTOR: settings.labelSelector };
  const [operator, apiserver, cutOff, dispatcher] = await Promise.all([
    system.start("operator", { ...cluster, HERALD_OPERATOR_LEASE: settings.leaseName, HERALD_OPERATOR_WORKERS: "1" }),
    system.start("apiserver", { ...loopbackAllowed, ...traces, ...judged }),
    system.start("apiserver", { ...loopbackAllowed, HERALD_REDIS_URL: `redis://${nowhere}` }),
    system.start("dispatcher", { ...loopbackAllowed, HERALD_DISPATCHER_UNSAVED_LIMIT: String(mostUnsaved) }),
  ]);
  return { operator, apiserver, cutOff, dispatcher };
};

const watching = (
  { servers }: Installation,
  prometheus: Prometheus,
  { operator, apiserver, cutOff, dispatcher }: Planted["programs"],
): Pick<Planted, "fires" | "fired" | "finds" | "shows"> => {
  const isFiring = async (alert: string): Promise<boolean> => (await prometheus.query(firing(alert))).length > 0;
  const hasFired = async (alert: string): Promise<boolean> =>
    (await prometheus.query(`max_over_time(${firing(alert)}[1h])`)).length > 0;
  const of = { operator: [operator], apiserver: [apiserver, cutOff], dispatcher: [dispatcher] };
  return {
    fires: (alerts, again = async () => undefined) => allFire(alerts, isFiring, again),
    fired: (alerts) => allFire(alerts, hasFired, async () => undefined),
    finds: (query, again) => until(async () => (await again(), (await prometheus.query(query)).length > 0), withinMs),
    shows: (alert, ...words) =>
      firstLook({ kubeconfig: servers.kubeconfig, prometheus, programs: of, withinMs }, alert, words),
  };
};

const firing = (alert: string): string => `ALERTS{alertname="${alert}",alertstate="firing",namespace=~"herald|"}`;

/** Waits until each of the alerts was seen to fire, and does something again and again meanwhile. */
const allFire = async (
  alerts: readonly string[],
  isSeen: (alert: string) => Promise<boolean>,
  again: () => Promise<unknown>,
): Promise<void> => {
  const seen = new Set<string>();
  const all = async (): Promise<boolean> => {
    await again();
    for (const alert of alerts) if (!seen.has(alert) && (await isSeen(alert))) seen.add(alert);
    return seen.size === alerts.length;
  };
  await until(all, withinMs).catch(() =>
    expect.fail(`did not fire: ${alerts.filter((alert) => !seen.has(alert)).join(", ")}`),
  );
};

const betweenMs = 25_000; // some scrapes

/** Does it when it is asked to, but not sooner after the last time than what it did can be seen. */
export const nowAndThen = (work: () => Promise<unknown>, everyMs = betweenMs): (() => Promise<void>) => {
  let lastMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - lastMs < everyMs) return;
    await work();
    lastMs = performance.now();
  };
};
