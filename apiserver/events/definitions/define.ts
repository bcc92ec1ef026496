import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { isOfOne } from "#core/queue/jetstream/passing.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { EventDefinitions } from "#core/storage/events/definitions.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";

export type DefineDeps = { definitions: Pick<EventDefinitions, "define">; clock: Clock };

/** Defines the names of events at first sight; gives those that are defined then. */
export type Define = (app: AppRow, names: readonly string[]) => Promise<ReadonlySet<string>>;

const mostKnown = 50_000; // some 10 MB; a definition goes only with its app
const appsAtOnce = 4;

type Wanted = { app: AppRow; names: readonly string[] };

/** Requests, and their names: one app's many must not keep the names of others waiting for long. */
const batched = {
  most: 200,
  weigh: { of: ({ names }: Wanted): number => names.length, most: 1_000 },
  inFlight: 2,
  isOfTurn: true,
  isOfOne,
};

/**
 * What was found once is not looked up again. Requests that come at the same time with new names of an app share its
 * commands, which are five, and each as long as the app has names.
 */
export const definer = ({ definitions, clock }: DefineDeps): Define => {
  const known = new LRUCache<string, true>(atMostEntries(mostKnown));
  const defineAll = async (wanted: readonly Wanted[]): Promise<ReadonlySet<string>[]> => {
    const defined = await mapBounded(byApp(wanted), appsAtOnce, async ({ app, names }) => {
      const found = await definitions.define(ofApp(app), names, clock.now());
      return [app._id, new Set(found.map(({ name }) => name))] as const;
    });
    const ofEach = new Map(defined);
    return wanted.map(({ app }) => ofEach.get(app._id) ?? new Set());
  };
  const define = gather<Wanted, ReadonlySet<string>>({ write: defineAll, ...batched });
  return async (app, names) => {
    const keyOf = (name: string): string => `${app._id} ${name}`;
    const missing = names.filter((name) => !known.has(keyOf(name)));
    if (missing.length === 0) return new Set(names);
    const found = await define({ app, names: missing });
    for (const name of missing) if (found.has(name)) known.set(keyOf(name), true);
    return new Set(names.filter((name) => found.has(name) || known.has(keyOf(name))));
  };
};

const byApp = (wanted: readonly Wanted[]): Wanted[] => {
  const apps = new Map<string, Wanted>();
  for (const { app, names } of wanted)
    apps.set(app._id, { app, names: [...(apps.get(app._id)?.names ?? []), ...names] });
  return [...apps.values()];
};
