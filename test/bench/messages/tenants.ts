import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import { startMail } from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { atMost, type Figure } from "../figures/figure.ts";
import type { Measurement, Measurements } from "../measure-all.ts";
import type { Round } from "../servers.ts";
import { type LatencyResult, paced } from "../webhooks/latency.ts";
import { addEndpoints, type Scenario, warmUp } from "../webhooks/publish.ts";
import { onWebhookBench } from "../webhooks/system.ts";
import { latencies, send } from "./blast.ts";
import { quantiles } from "./load.ts";

/** Messages of one tenant, accepted before another tenant's are measured; its mail server takes its time for each mail. */
type Flood = { channel: "email" | "ios_push"; messages: number; recipients: number; answerMs: number };

/** Another tenant's, beside what of the flood is not sent by its end. */
type Beside = { push: ReturnType<typeof quantiles>; webhook: LatencyResult; left: number };

const oneEndpoint = { perRequest: 1, names: 1, endpointsPerName: 1, perSecond: 20, dispatchers: 1 };
const whole = {
  mails: { channel: "email", messages: 2_000, recipients: 1, answerMs: 400 },
  pushes: { channel: "ios_push", messages: 25, recipients: 2_000, answerMs: 0 },
  other: { ...oneEndpoint, events: 200, warmUp: 200 },
} as const;
const short = {
  mails: { channel: "email", messages: 40, recipients: 1, answerMs: 100 },
  pushes: { channel: "ios_push", messages: 2, recipients: 100, answerMs: 0 },
  other: { ...oneEndpoint, events: 10, warmUp: 5 },
} as const;

const acceptedAtOnce = 16;
const drainedMs = 120_000;
const pushEveryMs = 50;

/** From the accept to the provider, and from the publish to the endpoint, for a tenant of the same plan as the flooding one. */
const besideFlood = (round: Round, flood: Flood, scenario: Scenario): Promise<Beside> =>
  onWebhookBench(
    round,
    async ({ system, sink }) => {
      const other = await system.another();
      const mail = await startMail(system);
      mail.script({ delay_ms: flood.answerMs });
      const endpoints = await addEndpoints({ system: other, sink }, scenario);
      const [device] = await addressesOf(other, "ios_push", 1);
      const recipients = await addressesOf(system, flood.channel, flood.channel === "email" ? 500 : flood.recipients);
      return { other, mail, recipients, device, endpoints };
    },
    async (bench, { other, mail, recipients, device, endpoints }) => {
      const { system } = bench;
      try {
        const beside = { ...bench, system: other };
        await warmUp(beside, endpoints, scenario);
        const target = { include_subscription_ids: [device] };
        const pushOne = async () => (await send(other, bench.apiserver, { target })).id;
        await other.ended(await pushOne(), 30_000);
        await bench.sink.forget();
        const ids = await accept(bench, flood, recipients);
        const ownEvents = { ...scenario, firstEvent: scenario.events };
        const [webhook, pushes] = await Promise.all([paced(beside, ownEvents), evenly(scenario.events, pushOne)]);
        const deliveries = system.db.collection<DeliveryRow>("deliveries");
        const sent = await deliveries.countDocuments({ message_id: { $in: ids } });
        for (const id of pushes) await other.ended(id, 60_000);
        const left = flood.messages * flood.recipients - sent;
        return { push: quantiles(await latencies(other, pushes)), webhook, left };
      } finally {
        mail.script({}); // at once from now on
        await until(async () => (await waitingOf(system)) === 0, drainedMs);
        await mail.stop();
      }
    },
    scenario.dispatchers,
  );

/** Messages of a tenant that have not ended. */
const waitingOf = ({ db, tenantId }: System): Promise<number> =>
  db.collection<MessageRow>("messages").countDocuments({ tenant_id: tenantId, completed_at: null });

const addressesOf = async (
  { db, tenantId, app }: System,
  channel: Flood["channel"],
  count: number,
): Promise<string[]> => {
  const subscriptions: SubscriptionRow[] = Array.from({ length: count }, (_, n) => {
    const token = channel === "email" ? `p${n}@flood.test` : randomBytes(32).toString("hex");
    return aSubscription({ tenant_id: tenantId, app_id: app._id, channel, token });
  });
  await seed(db, { subscriptions });
  return subscriptions.map(({ _id }) => _id);
};

/** Has all messages of a flood accepted; their ids. */
const accept = async (
  { system, apiserver }: { system: System; apiserver: SystemProgram },
  { channel, messages, recipients }: Flood,
  addresses: readonly string[],
): Promise<string[]> => {
  const ids: string[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < messages) {
      const first = (next++ * recipients) % addresses.length;
      const target = { include_subscription_ids: addresses.slice(first, first + recipients) };
      const mail = channel === "email" && { email_subject: "News", email_body: "<p>Hello</p>" };
      ids.push((await send(system, apiserver, { target, ...mail })).id);
    }
  };
  await Promise.all(Array.from({ length: acceptedAtOnce }, caller));
  return ids;
};

/** Begins one after another at an even pace, whether or not those before have ended. */
const evenly = async (count: number, one: () => Promise<string>): Promise<string[]> => {
  const begun: Promise<string>[] = [];
  for (let n = 0; n < count; n++) {
    begun.push(one());
    await sleep(pushEveryMs);
  }
  return Promise.all(begun);
};

const measure =
  (floodOf: (size: typeof whole | typeof short) => Flood): Measurement =>
  async (round, tell) => {
    const size = round.isShort ? short : whole;
    for (const dispatchers of [1, 2])
      tell(
        ...figuresOf(
          await besideFlood(round, floodOf(size), { ...size.other, dispatchers }),
          floodOf(size),
          dispatchers,
        ),
      );
  };

const figuresOf = ({ push, webhook, left }: Beside, flood: Flood, dispatchers: number): Figure[] => {
  const of = flood.channel === "email" ? `mails of ${flood.answerMs} ms` : "pushes";
  const name = `beside a tenant with ${flood.messages * flood.recipients} ${of} queued, ${dispatchers} dispatchers, p99`;
  const how = `${left} of them not sent yet at the end`;
  return [
    { name: `push ${name}`, reach: atMost(1_000), value: push.p99Ms, unit: "ms", how: `p50 ${push.p50Ms} ms; ${how}` },
    {
      name: `webhook ${name}`,
      reach: atMost(1_000),
      value: webhook.p99Ms,
      unit: "ms",
      how: `${webhook.arrived} of ${webhook.sent} arrived; p50 ${webhook.p50Ms.toFixed(1)} ms; ${how}`,
    },
  ];
};

/** What one tenant's flood costs another's push and webhook. */
export const tenants: Measurements = {
  "tenants-mails": measure(({ mails }) => mails),
  "tenants-pushes": measure(({ pushes }) => pushes),
};
