import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { EventDefinitions } from "#core/storage/events/definitions.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";

export type DefineDeps = { definitions: Pick<EventDefinitions, "define">; clock: Clock };

/** Defines the names of events at first sight; gives those that are defined then. */
export type Define = (app: AppRow, names: readonly string[]) => Promise<ReadonlySet<string>>;

const mostKnown = 50_000; // some 10 MB; a definition goes only with its app

/** What was found once is not looked up again. */
export const definer = ({ definitions, clock }: DefineDeps): Define => {
  const known = new LRUCache<string, true>(atMostEntries(mostKnown));
  return async (app, names) => {
    const keyOf = (name: string): string => `${app._id} ${name}`;
    const missing = names.filter((name) => !known.has(keyOf(name)));
    if (missing.length === 0) return new Set(names);
    const found = await definitions.define(ofApp(app), missing, clock.now());
    for (const { name } of found) known.set(keyOf(name), true);
    const defined = new Set(found.map(({ name }) => name));
    return new Set(names.filter((name) => defined.has(name) || known.has(keyOf(name))));
  };
};
