import { memberOf } from "#core/channels/kit/reading.ts";
import { passes } from "#core/domain/webhooks/filter.ts";
import type { PartitionGroup, Partitioning } from "#core/domain/webhooks/partitions.ts";
import type { HandlerContext, Settlement } from "#core/queue/jetstream/worker.ts";
import { groupIn } from "#core/queue/subjects.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { messageReceived } from "#core/schema/webhooks/webhook.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Accept, EndpointEvents } from "../accept/accept.ts";

export type MatchDeps = {
  directory: Pick<Directory, "webhooksOf" | "forgetWebhooksOf">;
  partitioning: Pick<Partitioning, "isGivenBy">;
  /** An endpoint was made, changed or removed. */
  changed: (endpointId: string) => void;
  accept: Accept;
};

type MatchContext = Pick<HandlerContext, "isRepeated"> & Partial<Pick<HandlerContext, "subject" | "traceparent">>;

/** Handles the events that are read in a partition, or from the last release's stream when there is none. */
export type Match = (
  partition?: number,
) => (events: readonly EventEnvelope[], given: MatchContext) => Promise<Settlement>;

/** Finds the endpoints that want events and are given them by the reader of that partition, and accepts those for them. */
export const matchEvents = ({ directory, partitioning, accept, changed }: MatchDeps): Match => {
  const known = new WeakMap<readonly WebhookRow[], Map<string, Subscribers>>(); // the directory gives the same list until it changes
  const subscribersAmong = (endpoints: readonly WebhookRow[], reading: Reading | null): Subscribers => {
    const byReading = known.get(endpoints) ?? new Map<string, Subscribers>();
    known.set(endpoints, byReading);
    const key = reading === null ? "" : `${reading.partition} ${reading.group.groups}`;
    const subscribers = byReading.get(key) ?? subscribersOf(endpoints.filter(isGivenWhile(partitioning, reading)));
    byReading.set(key, subscribers);
    return subscribers;
  };
  /** Before anything is awaited, as messages begin to be handled in their order: all that come later heed the change. */
  const heedChanges = (events: readonly EventEnvelope[]): void => {
    for (const { app_id: appId, type, data } of events) {
      if (type !== "audit.created" || memberOf(data, "target", "type") !== "webhook") continue;
      directory.forgetWebhooksOf(appId);
      const id = memberOf(data, "target", "id");
      if (typeof id === "string") changed(id);
    }
  };
  return (partition) =>
    async (events, { subject = "", isRepeated, traceparent = null }) => {
      heedChanges(events);
      const group = groupIn(subject);
      const reading = partition === undefined || group === null ? null : { partition, group };
      const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
      await Promise.all(
        byApp.map(async ([appId, of]) => {
          const wanted = wantedOf(subscribersAmong(await directory.webhooksOf(appId), reading), of);
          if (wanted.length > 0) await accept(wanted, isRepeated, traceparent);
        }),
      );
      return { kind: "done" };
    };
};

/** In which partition events are read that were published for a group. */
type Reading = { partition: number; group: PartitionGroup };

const isGivenWhile =
  ({ isGivenBy }: MatchDeps["partitioning"], reading: Reading | null) =>
  (endpoint: WebhookRow): boolean =>
    reading === null || isGivenBy(reading.partition, reading.group, endpoint);

/** The endpoints of an app that subscribed, by kind; to custom events by kind and name. */
type Subscribers = ReadonlyMap<string, readonly WebhookRow[]>;

const custom = "event.received";
const named = (name: string): string => `${custom} ${name}`;

const subscribersOf = (endpoints: readonly WebhookRow[]): Subscribers => {
  const pairs = endpoints.flatMap((endpoint) => {
    const { events, event_names: names } = endpoint;
    const keys = events.flatMap((kind) => (kind === custom ? names.map(named) : [kind]));
    return [...new Set(keys)].map((key) => ({ key, endpoint }));
  });
  const byKey = Map.groupBy(pairs, ({ key }) => key);
  return new Map([...byKey].map(([key, of]) => [key, of.map(({ endpoint }) => endpoint)]));
};

const keyOf = ({ type, data: { name } }: EventEnvelope): string =>
  type === custom && typeof name === "string" ? named(name) : type;

/** What people write is told to an endpoint of a bot as long as a bot handles their conversation. */
const isForAudience = ({ audience = null }: WebhookRow, { type, data }: EventEnvelope): boolean =>
  audience === null ||
  type !== custom ||
  data["name"] !== messageReceived ||
  memberOf(data, "properties", "handled_by") === audience;

/** The endpoints that want some of the events, and which: those they subscribed to that pass their filters. */
const wantedOf = (subscribers: Subscribers, events: readonly EventEnvelope[]): EndpointEvents[] => {
  const wanted = new Map<WebhookRow, EventEnvelope[]>();
  for (const event of events) {
    for (const endpoint of subscribers.get(keyOf(event)) ?? []) {
      if (!isForAudience(endpoint, event) || !passes(endpoint.filters, event)) continue;
      const before = wanted.get(endpoint);
      if (before === undefined) wanted.set(endpoint, [event]);
      else before.push(event);
    }
  }
  return [...wanted].map(([endpoint, of]) => ({ endpoint, events: of }));
};
