import { passes } from "#core/domain/webhooks/filter.ts";
import type { HandlerContext, Settlement } from "#core/queue/jetstream/worker.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Wanted } from "../accept/accept.ts";
import type { Batch } from "./hand-over.ts";

export type MatchDeps = {
  directory: Pick<Directory, "webhooksOf">;
  /** Gives events of one app to the owners of the endpoints that want them; resolves when all is stored. */
  deliver: (batch: Batch) => Promise<void>;
};

type Given = Pick<HandlerContext, "isRepeated"> & Partial<Pick<HandlerContext, "traceparent">>;

/** Gives events to the owners of the endpoints that want them. */
export const matchEvents = ({ directory, deliver }: MatchDeps) => {
  const known = new WeakMap<readonly WebhookRow[], Subscribers>(); // the directory gives the same list until it changes
  const subscribersAmong = (endpoints: readonly WebhookRow[]): Subscribers => {
    const subscribers = known.get(endpoints) ?? subscribersOf(endpoints);
    known.set(endpoints, subscribers);
    return subscribers;
  };
  return async (events: readonly EventEnvelope[], { isRepeated, traceparent = null }: Given): Promise<Settlement> => {
    const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
    await Promise.all(
      byApp.map(async ([appId, of]) => {
        const wanted = wantedOf(subscribersAmong(await directory.webhooksOf(appId)), of);
        if (wanted.length > 0) await deliver({ appId, wanted, isRepeated, traceparent });
      }),
    );
    return { kind: "done" };
  };
};

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

/** The endpoints that want some of the events, and which: those they subscribed to that pass their filters. */
const wantedOf = (subscribers: Subscribers, events: readonly EventEnvelope[]): Wanted[] => {
  const wanted = new Map<WebhookRow, EventEnvelope[]>();
  for (const event of events) {
    for (const endpoint of subscribers.get(keyOf(event)) ?? []) {
      if (!passes(endpoint.filters, event)) continue;
      const before = wanted.get(endpoint);
      if (before === undefined) wanted.set(endpoint, [event]);
      else before.push(event);
    }
  }
  return [...wanted].map(([endpoint, of]) => ({ endpoint, events: of }));
};
