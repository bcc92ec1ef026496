import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { hasStatus } from "#core/runtime/kube/errors.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { type WebhookStatus, webhookResource } from "#core/schema/webhooks/resource.ts";
import { isSet, text } from "../kit/arguments.ts";
import type { Cluster, Seen } from "../kit/cluster.ts";
import type { Given, Run, Terminal } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { metricsOf, valuesOf } from "../kit/metrics.ts";
import { printed } from "../kit/output.ts";
import { programOf, programPods } from "../kit/pods.ts";
import { table } from "../kit/table.ts";

/** Prints the tenants that use most, the webhooks that fail most and are slowest, and the accounts that are cut off. */
export const runTop: Run = async (given, { cluster: open, out, err, terminal, signal }) => {
  const cluster = open();
  const limit = limitOf(given);
  const namespace = isSet(given, "all-namespaces") ? null : (text(given, "namespace") ?? cluster.namespace);
  const [tenants, webhooks, cutOff] = await Promise.all([
    cluster.resources(served(tenantResource), null, signal),
    cluster.resources(served(webhookResource), namespace, signal),
    openBreakers(cluster, signal),
  ]);
  if (tenants.forbidden) err("You may not list Tenants: they are left out.\n");
  if (webhooks.forbidden) err("You may not list Webhooks: they are left out.\n");
  for (const reason of cutOff.leftOut) err(`Accounts that are cut off are left out: ${reason}\n`);
  const loudest = tenants.items
    .flatMap(tenantUse)
    .sort((a, b) => b.deliveries - a.deliveries)
    .slice(0, limit);
  const worst = webhooks.items.flatMap(webhookUse).sort(byTrouble).slice(0, limit);
  const format = text(given, "output");
  const breakers = cutOff.breakers.slice(0, limit);
  if (format === "json" || format === "yaml") out(printed({ tenants: loudest, webhooks: worst, breakers }, format));
  else
    out([tenantTable(loudest, terminal), webhookTable(worst, terminal), breakerTable(breakers, terminal)].join("\n"));
  return loudest.length + worst.length + breakers.length > 0 ? 0 : 1;
};

const served = ({
  kind,
  plural,
  scope,
}: {
  kind: string;
  plural: string;
  scope: string;
}): Parameters<Cluster["resources"]>[0] => ({
  kind,
  plural,
  isNamespaced: scope === "Namespaced",
});

const limitOf = (given: Given): number => {
  const limit = text(given, "limit") ?? "10";
  if (!/^[1-9]\d{0,4}$/.test(limit)) throw new UsageError("--limit takes a count from 1");
  return Number(limit);
};

type TenantUse = { tenant: string; deliveries: number; thisMonth: number; webhookBacklog: number };

const tenantUse = ({ metadata, status }: Seen): TenantUse[] => {
  const usage = status?.["usage"] as // as its schema has it; of another release, members may be missing
    | { lastHour?: { deliveries?: number }; thisMonth?: { deliveries?: number }; webhookBacklog?: number }
    | undefined;
  if (usage === undefined) return [];
  const { lastHour, thisMonth, webhookBacklog = 0 } = usage;
  return [
    {
      tenant: metadata.name,
      deliveries: lastHour?.deliveries ?? 0,
      thisMonth: thisMonth?.deliveries ?? 0,
      webhookBacklog,
    },
  ];
};

type WebhookUse = {
  webhook: string;
  state: string;
  /** Percent of the last hour's requests; null when there were none. */
  success: number | null;
  p99Ms: number | null;
  lastError: string;
};

const webhookUse = ({ metadata, status }: Seen): WebhookUse[] => {
  const { health, state = "" } = (status ?? {}) as Partial<WebhookStatus>; // as its schema has it
  if (health === undefined && state !== "disabled") return [];
  return [
    {
      webhook: `${metadata.namespace ?? ""}/${metadata.name}`,
      state,
      success: health === undefined ? null : Number.parseInt(health.successRate1h, 10),
      p99Ms: health?.p99Milliseconds1h ?? null,
      lastError: health?.lastErrorClass ?? "",
    },
  ];
};

/** Those that fail most first; among equals the slowest. */
const byTrouble = (a: WebhookUse, b: WebhookUse): number =>
  (a.success ?? -1) - (b.success ?? -1) || (b.p99Ms ?? 0) - (a.p99Ms ?? 0);

const tenantTable = (tenants: readonly TenantUse[], terminal: Terminal): string =>
  table(
    ["TENANT", "DELIVERIES/H", "THIS MONTH", "WEBHOOKS WAITING"],
    tenants.map((one) => [one.tenant, String(one.deliveries), String(one.thisMonth), String(one.webhookBacklog)]),
    terminal,
  );

const webhookTable = (webhooks: readonly WebhookUse[], terminal: Terminal): string =>
  table(
    ["WEBHOOK", "STATE", "SUCCESS", "P99", "LAST ERROR"],
    webhooks.map(({ webhook, state, success, p99Ms, lastError }) => [
      webhook,
      { text: state, colour: state === "active" ? "green" : "red" },
      success === null ? "" : `${success}%`,
      p99Ms === null ? "" : `${p99Ms} ms`,
      lastError,
    ]),
    terminal,
  );

/** How many accounts of a channel a dispatcher has cut off, as their provider fails. */
type OpenBreaker = { dispatcher: string; channel: string; accounts: number };

const podsAtOnce = 4;

/** Those of all dispatchers. `leftOut`: why some are not known, each reason once. */
const openBreakers = async (
  cluster: Cluster,
  signal: AbortSignal,
): Promise<{ breakers: OpenBreaker[]; leftOut: ReadonlySet<string> }> => {
  const { items, forbidden } = await programPods(cluster, null, signal);
  const leftOut = new Set(forbidden ? ["you may not list pods"] : []);
  const dispatchers = items.filter((pod) => programOf(pod) === "dispatcher");
  const found = await mapBounded(dispatchers, podsAtOnce, async (pod): Promise<OpenBreaker[]> => {
    const metrics = await metricsOf(cluster, pod, signal).catch((error: unknown) => {
      leftOut.add(hasStatus(error, 403) ? "you may not get pods/proxy" : "the API server does not reach their pods");
      return "";
    });
    const open = [...valuesOf(metrics, "herald_open_breakers", "channel")].filter(([, accounts]) => accounts > 0);
    return open.map(([channel, accounts]) => ({ dispatcher: pod.metadata.name, channel, accounts }));
  });
  return { breakers: found.flat().sort((a, b) => b.accounts - a.accounts), leftOut };
};

const breakerTable = (breakers: readonly OpenBreaker[], terminal: Terminal): string =>
  table(
    ["DISPATCHER", "CHANNEL", "ACCOUNTS CUT OFF"],
    breakers.map(({ dispatcher, channel, accounts }) => [dispatcher, channel, String(accounts)]),
    terminal,
  );
