import { setTimeout as sleep } from "node:timers/promises";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import { type WebhookSpec, webhookResource } from "#core/schema/webhooks/resource.ts";
import type { Recovery, Webhook, WebhookDeliveryDetail } from "#core/schema/webhooks/webhook.ts";
import { text } from "../kit/arguments.ts";
import type { SeenStatus } from "../kit/cluster.ts";
import type { Given, Run, Tools } from "../kit/command.ts";
import { Refused, UsageError } from "../kit/errors.ts";
import { durationMs, printed } from "../kit/output.ts";
import { waitOf } from "../kit/waiting.ts";
import { get } from "../rest/key.ts";
import { openRest, type Rest } from "../rest/rest.ts";

/** Sends an endpoint again what failed or was missed. */
export const runRecover: Run = async (given, tools) => {
  const window = windowOf(given, tools);
  const waitMs = waitOf(given);
  const { rest, path } = await endpointOf(given, tools);
  const begun = await rest.post<Recovery>(`${path}/recover`, window);
  return await follow({ rest, path, given, tools, waitMs }, begun);
};

/** Sends an endpoint again the deliveries of a window, or one of them. */
export const runReplay: Run = async (given, tools) => {
  const delivery = text(given, "delivery");
  const waitMs = waitOf(given);
  if (delivery !== undefined) {
    const beside = ["since", "until", "status", "event-type", "wait"].find((name) => given.options[name] !== undefined);
    if (beside !== undefined) throw new UsageError(`--delivery is one: --${beside} goes with a window`);
    const { rest } = await endpointOf(given, tools);
    const path = `${rest.ofApp}/webhooks/deliveries/${encodeURIComponent(delivery)}/replay`;
    const made = await rest.post<WebhookDeliveryDetail>(path, {});
    say(given, tools, made, `${delivery} is sent again as ${made.id}.`);
    return 0;
  }
  const [status, event_type] = [text(given, "status"), text(given, "event-type")];
  const chosen = { ...(status !== undefined && { status }), ...(event_type !== undefined && { event_type }) };
  const window = windowOf(given, tools);
  const { rest, path } = await endpointOf(given, tools);
  const begun = await rest.post<Recovery>(`${path}/replay`, { ...window, ...chosen });
  return await follow({ rest, path, given, tools, waitMs }, begun);
};

const say = (given: Given, { out }: Pick<Tools, "out">, document: unknown, sentence: string): void => {
  const format = text(given, "output");
  out(format === "json" || format === "yaml" ? printed(document, format) : `${sentence}\n`);
};

const windowOf = (given: Given, { now }: Pick<Tools, "now">): { since: string; until?: string } => {
  const [since, until] = [instantOf(given, "since", now()), instantOf(given, "until", now())];
  if (since === undefined) throw new UsageError("--since says from when on, e.g. 2h or 2026-11-26T08:00:00Z");
  return { since, ...(until !== undefined && { until }) };
};

const instantOf = (given: Given, option: string, now: Date): string | undefined => {
  const value = text(given, option);
  if (value === undefined) return undefined;
  const agoMs = durationMs(value);
  const at = agoMs === null ? Date.parse(value) : now.getTime() - agoMs;
  const isInstant = agoMs !== null || /^\d{4}-\d\d-\d\dT/.test(value);
  if (!isInstant || Number.isNaN(at)) throw new UsageError(`--${option} takes an instant, or a duration such as 2h`);
  return new Date(at).toISOString();
};

/** The endpoint of a Webhook resource, with a key of its App. */
const endpointOf = async (given: Given, tools: Tools): Promise<{ rest: Rest; path: string }> => {
  const [name] = given.operands;
  if (name === undefined) throw new UsageError("name a Webhook");
  const cluster = tools.cluster();
  const namespace = text(given, "namespace") ?? cluster.namespace;
  const what = `Webhook ${namespace}/${name}`;
  const at = `${collectionPath(webhookResource, { namespace })}/${encodeURIComponent(name)}`;
  const { spec, status } = await get<Resource<WebhookSpec, SeenStatus>>(cluster, at, what, tools.signal);
  if (status?.id === undefined) throw new Refused(`${what} has no id yet: see kubectl herald status`);
  const rest = await openRest({ ...given, options: { ...given.options, app: spec.appRef } }, tools, "admin");
  return { rest, path: `${rest.ofApp}/webhooks/${status.id}` };
};

const lookEveryMs = 1_000;

type Following = { rest: Rest; path: string; given: Given; tools: Tools; waitMs: number | null };

/** With `--wait` until it has ended. */
const follow = async ({ rest, path, given, tools, waitMs }: Following, begun: Recovery): Promise<0 | 1> => {
  const endsMs = waitMs === null ? 0 : performance.now() + waitMs;
  let seen = begun;
  while (seen.status === "running" && performance.now() < endsMs) {
    await sleep(lookEveryMs, undefined, { signal: tools.signal });
    const { recovery } = await rest.get<Webhook>(path);
    if (recovery?.id !== begun.id) throw new Refused("another recovery of this endpoint was begun meanwhile");
    seen = recovery;
  }
  const made = `${seen.replayed} deliveries are made again so far`;
  say(
    given,
    tools,
    seen,
    seen.status === "running" ? `${seen.id} is running: ${made}.` : `${seen.id} has ended: ${made}.`,
  );
  return waitMs === null || seen.status === "completed" ? 0 : 1;
};
