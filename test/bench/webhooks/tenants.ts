import type { AppRow } from "#core/storage/apps/apps.ts";
import { partitionOf } from "../../support/rows/partitioning.ts";
import type { System } from "../../support/system/system.ts";
import { addEndpoint, anEvent, postEvents } from "../../support/webhooks/traffic.ts";
import type { Round } from "../servers.ts";
import { type LatencyResult, paced } from "./latency.ts";
import { addEndpoints, appIdIn, type Scenario, warmUp } from "./publish.ts";
import { onWebhookBench, type WebhookBench } from "./system.ts";

/** Events of one tenant, each for several endpoints that take their time. */
export type Flood = { events: number; perRequest: number; endpoints: number; answerMs: number };

export type TenantsResult = {
  /** Of the other tenant before the flood. */
  alone: LatencyResult;
  /** Of the other tenant, from when all events of the flood were accepted. */
  beside: LatencyResult;
  /** Requests that the flood's endpoints had got when the other tenant's last event had arrived. */
  floodSent: number;
};

/**
 * Publish → arrival for a tenant with one endpoint, alone and beside a tenant whose events are far more than its endpoints
 * take. Both tenants' apps are in the same partition: nothing but fairness keeps them apart.
 */
export const latencyBesideFlood = (round: Round, flood: Flood, scenario: Scenario): Promise<TenantsResult> =>
  onWebhookBench(
    round,
    async ({ system, sink }) => {
      const other = await system.another();
      const flooding = { ...system, app: await appBeside(system, other.app) };
      const endpoints = await addEndpoints({ system: other, sink }, scenario);
      await addFlooded({ system: flooding, sink }, flood);
      return { other, flooding, endpoints };
    },
    async (bench, { other, flooding, endpoints }) => {
      const beside = { ...bench, system: other };
      await warmUp(beside, endpoints, scenario);
      const alone = await paced(beside, scenario);
      await bench.sink.forget();
      await publishFlood({ ...bench, system: flooding }, flood);
      const result = await paced(beside, { ...scenario, firstEvent: scenario.events });
      return { alone, beside: result, floodSent: (await bench.sink.totals()).slow };
    },
    scenario.dispatchers,
  );

/** Stores an app of a tenant in the partition of another app. */
const appBeside = async ({ app, db }: System, other: AppRow): Promise<AppRow> => {
  const made = { ...app, _id: appIdIn(partitionOf(other._id), app, 0), name: `${app.name} flood`, channels: {} };
  await db.collection<AppRow>("apps").insertOne(made);
  return made;
};

const floodName = "flood";

const addFlooded = ({ system, sink }: Pick<WebhookBench, "system" | "sink">, { endpoints, answerMs }: Flood) =>
  Promise.all(
    Array.from({ length: endpoints }, (_, n) =>
      addEndpoint(system, { url: `${sink.url}/slow/${answerMs}/${n}`, names: [floodName] }),
    ),
  );

const publishers = 8;

const publishFlood = async ({ system, apiserver }: WebhookBench, { events, perRequest }: Flood): Promise<void> => {
  let next = 0;
  const publisher = async (): Promise<void> => {
    while (next < events) {
      const first = next;
      next += perRequest;
      const count = Math.min(perRequest, events - first);
      const of = Array.from({ length: count }, (_, i) => anEvent(floodName, first + i));
      await postEvents(system, apiserver, of);
    }
  };
  await Promise.all(Array.from({ length: publishers }, publisher));
};
