import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ulid } from "#core/domain/ids.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { cpuOfEach } from "../cpu.ts";
import type { Work } from "../figures/compare.ts";
import { mostRssMiB, type Programs } from "../programs.ts";
import { quantiles } from "./load.ts";

export type Blast = {
  recipients: number;
  /** Recipients for each dispatcher that come before, for compiled code and open connections. */
  warmUp: number;
};

/** Deliveries from the accept to `completed`; their CPU. */
export type BlastResult = Work & {
  recipients: number;
  /** Of a dispatcher. */
  peakRssMiB: number;
  /** From the accept of a message of one recipient to its delivery, while the blast runs. */
  small: { p50Ms: number; p99Ms: number; count: number };
};

const smallEveryMs = 100;

/** Sends one message to every subscription, and small ones beside it; measures both. */
export const blast = async (
  system: System,
  { apiserver, dispatchers, cpuUs }: Programs,
  { recipients, warmUp: warmUpOfEach }: Blast,
): Promise<Omit<BlastResult, "pushUs">> => {
  const subscriptions = audience(system, recipients);
  await seed(system.db, { subscriptions });
  const lone = aSubscription({
    tenant_id: system.tenantId,
    app_id: system.app._id,
    channel: "ios_push",
  });
  await seed(system.db, { subscriptions: [lone] });
  await warmUp(system, apiserver, subscriptions.slice(0, warmUpOfEach * dispatchers.length));
  const cpuBefore = cpuUs();
  const { id } = await send(system, apiserver, { target: { all: true } });
  const ending = system.ended(id, 300_000);
  const small = await smallOnesUntil(ending, () =>
    send(system, apiserver, { target: { include_subscription_ids: [lone._id] } }),
  );
  const message = await ending;
  const tookMs = (message.completed_at?.getTime() ?? Number.NaN) - message.created_at.getTime();
  await Promise.all(small.map((one) => system.ended(one, 30_000)));
  return {
    recipients: message.counts.sent ?? 0,
    perSecond: ((message.counts.sent ?? 0) / tookMs) * 1000,
    cpuUs: cpuOfEach(cpuBefore, cpuUs(), recipients),
    peakRssMiB: mostRssMiB(dispatchers),
    small: { ...quantiles(await latencies(system, small)), count: small.length },
  };
};

const warmUpAtOnce = 1_000; // a message names 2,000 recipients at most

const warmUp = async (system: System, apiserver: SystemProgram, to: readonly SubscriptionRow[]): Promise<void> => {
  for (let from = 0; from < to.length; from += warmUpAtOnce) {
    const ids = to.slice(from, from + warmUpAtOnce).map(({ _id }) => _id);
    const { id } = await send(system, apiserver, { target: { include_subscription_ids: ids } });
    await system.ended(id, 60_000);
  }
};

/** Sends a small message every 100 ms until the blast has ended; their ids. */
export const smallOnesUntil = async (
  ending: Promise<unknown>,
  sendOne: () => Promise<{ id: string }>,
): Promise<string[]> => {
  const over = ending.then(() => true);
  const small: string[] = [];
  let isOver = false;
  while (!isOver) {
    small.push((await sendOne()).id);
    isOver = await Promise.race([over, sleep(smallEveryMs, false)]);
  }
  return small;
};

const audience = ({ tenantId, app }: System, count: number): SubscriptionRow[] => {
  const now = new Date();
  return Array.from({ length: count }, () =>
    aSubscription({
      _id: `sub_${ulid(now)}`,
      tenant_id: tenantId,
      app_id: app._id,
      token: randomBytes(32).toString("hex"),
    }),
  );
};

/** Has a message accepted. */
export const send = async (system: System, apiserver: SystemProgram, body: object): Promise<{ id: string }> => {
  const reply = await fetch(`${apiserver.url}/v1/notifications`, {
    method: "POST",
    headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
    body: JSON.stringify({ app_id: system.app._id, contents: { en: "Hello" }, headings: { en: "News" }, ...body }),
  });
  if (reply.status !== 202) throw new Error(`${reply.status}: ${await reply.text()}`);
  return (await reply.json()) as { id: string }; // the reply of an accept
};

/** From the accept of messages of one recipient to their delivery, ms. */
export const latencies = async ({ db }: System, ids: readonly string[]): Promise<number[]> => {
  const rows = await db
    .collection<DeliveryRow>("deliveries")
    .find({ message_id: { $in: [...ids] } })
    .toArray();
  const accepted = new Map(
    (
      await db
        .collection<{ _id: string; created_at: Date }>("messages")
        .find({ _id: { $in: [...ids] } })
        .toArray()
    ).map((row) => [row._id, row.created_at.getTime()]),
  );
  return rows.flatMap(({ message_id, sent_at }) => {
    const from = accepted.get(message_id);
    return from === undefined || sent_at === undefined ? [] : [sent_at.getTime() - from];
  });
};
