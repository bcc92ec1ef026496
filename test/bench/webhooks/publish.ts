import { derivedIdAt } from "#core/domain/ids.ts";
import { webhookLimits } from "#core/schema/webhooks/webhook.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { partitionCount, partitionOf } from "../../support/rows/partitioning.ts";
import type { System } from "../../support/system/system.ts";
import { addEndpoint, anEvent, deliveriesBecome, eventsUrl } from "../../support/webhooks/traffic.ts";
import { runLoad } from "../messages/load.ts";
import type { Round } from "../servers.ts";
import { monotonicMs } from "./sink.ts";
import { onWebhookBench, type WebhookBench } from "./system.ts";

/** Events of `names` of each app in turn, each wanted by `endpointsPerName` endpoints, for some dispatchers to deliver. */
export type Scenario = {
  /** Each with endpoints of its own, in the partitions in turn; its requests in turn. One when left out. */
  apps?: number;
  events: number;
  /** The number of its first event, where others of the same names came before; 0 when left out. */
  firstEvent?: number;
  perRequest: number;
  /** Whether events have an id of the sender's, which is claimed in the store first; yes when left out. */
  hasIds?: boolean;
  names: number;
  endpointsPerName: number;
  dispatchers: number;
  /** Events a second, evenly, whether or not the last ones were answered; else each publisher waits for its answer. */
  perSecond?: number;
  /** Deliveries for each dispatcher that come before, for compiled code and open connections. */
  warmUp: number;
};

const publishers = 32;
const mostUnanswered = 256; // requests at an even pace
/** How long deliveries may take, all of them. */
export const withinMs = 180_000;

/** Runs a measurement on a new installation that has delivered the warm-up of a scenario. */
export const onWarmBench = <T>(
  round: Round,
  scenario: Scenario,
  run: (bench: WebhookBench, endpoints: readonly WebhookRow[]) => Promise<T>,
): Promise<T> =>
  onWebhookBench(
    round,
    (made) => addEndpoints(made, scenario),
    async (bench, endpoints) => {
      await warmUp(bench, endpoints, scenario);
      return run(bench, endpoints);
    },
    scenario.dispatchers,
  );

/** Stores the apps of a scenario beside the installation's own, and the endpoints of each. */
export const addEndpoints = async (
  { system, sink }: Pick<WebhookBench, "system" | "sink">,
  scenario: Scenario,
): Promise<WebhookRow[]> => {
  const apps = appsOf(system, scenario);
  const others = apps.filter(({ _id }) => _id !== system.app._id);
  if (others.length > 0) await system.db.collection<AppRow>("apps").insertMany(others);
  const endpoints = await Promise.all(apps.map((app, i) => addEndpointsOf({ ...system, app }, sink, scenario, i)));
  return endpoints.flat();
};

const addEndpointsOf = (
  system: System,
  sink: WebhookBench["sink"],
  { names, endpointsPerName }: Scenario,
  app: number,
): Promise<WebhookRow[]> =>
  Promise.all(
    Array.from({ length: names * endpointsPerName }, (_, n) =>
      addEndpoint(system, {
        url: `${sink.url}/${app}/${n}`,
        names: [`event_${n % names}`, `warm_${n % names}`],
        max_in_flight: webhookLimits.maxInFlight.most,
      }),
    ),
  );

/** The apps of a scenario, always the same of an installation: the n-th one in the n-th partition, when there are several. */
const appsOf = ({ app }: System, { apps = 1 }: Scenario): AppRow[] =>
  apps === 1
    ? [app]
    : Array.from({ length: apps }, (_, n) => ({
        ...app,
        _id: appIdIn(n % partitionCount, app, n),
        name: `${app.name} ${n}`,
        channels: {},
      }));

/** The id of an app in a partition, the same for the same `n` of an app. */
export const appIdIn = (partition: number, app: AppRow, n: number): string => {
  for (let tries = 0; ; tries++) {
    const id = derivedIdAt("app", app.created_at, app._id, `${n}/${tries}`);
    if (partitionOf(id) === partition) return id; // the sixteenth try, on average
  }
};

/** Delivers what comes before a scenario, and forgets that it arrived. */
export const warmUp = async (
  bench: WebhookBench,
  endpoints: readonly WebhookRow[],
  scenario: Scenario,
): Promise<void> => {
  const deliveries = warmUpOf(scenario);
  await publish(bench, { ...scenario, events: deliveries / scenario.endpointsPerName }, "warm");
  await areStored(bench, endpoints, deliveries);
  await bench.sink.forget();
};

const warmUpOf = ({ warmUp: ofEach, dispatchers }: Scenario): number => ofEach * dispatchers;

/** Waits until every delivery of a scenario is stored as a success: the work is not over before. */
export const allStored = (bench: WebhookBench, endpoints: readonly WebhookRow[], scenario: Scenario): Promise<void> =>
  areStored(bench, endpoints, warmUpOf(scenario) + scenario.events * scenario.endpointsPerName);

const areStored = ({ system }: WebhookBench, endpoints: readonly WebhookRow[], count: number): Promise<void> => {
  const ids = endpoints.map(({ _id }) => _id);
  return deliveriesBecome(system, ids, { are: ({ success }) => success === count, withinMs });
};

export type Published = {
  /** Events accepted a second, from the first request to the last answer. */
  perSecond: number;
  /** When each event was sent, by its number, ms of the machine's monotonic clock. */
  sentAtMs: number[];
};

/** Publishes the events of a scenario over HTTP. @throws when one is refused */
export const publish = async (
  { system, apiserver }: WebhookBench,
  scenario: Scenario,
  kind: "event" | "warm" = "event",
): Promise<Published> => {
  const { events, firstEvent = 0, perRequest, names, perSecond: pace, hasIds = true } = scenario;
  const urls = appsOf(system, scenario).map((app) => eventsUrl({ ...system, app }, apiserver));
  const sentAtMs: number[] = [];
  const { perSecond, failures } = await runLoad({
    url: (request) => urls[request % urls.length] ?? "",
    connections: pace === undefined ? publishers : mostUnanswered,
    requests: Math.ceil(events / perRequest),
    ...(pace === undefined ? {} : { perSecond: pace / perRequest }),
    headers: { authorization: `Bearer ${system.token}` },
    body: (request) => {
      const first = request * perRequest;
      const numbers = Array.from({ length: Math.min(perRequest, events - first) }, (_, i) => firstEvent + first + i);
      for (const n of numbers) sentAtMs[n] = monotonicMs();
      const of = (n: number) => anEvent(`${kind}_${n % names}`, n);
      return JSON.stringify({ events: numbers.map((n) => (hasIds ? of(n) : { ...of(n), id: undefined })) });
    },
    status: 202,
  });
  if (Object.keys(failures).length > 0) throw new Error(`answers other than 202: ${JSON.stringify(failures)}`);
  return { perSecond: perSecond * perRequest, sentAtMs };
};
