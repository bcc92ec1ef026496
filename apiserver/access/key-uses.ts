import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { ApiKeyRow, ApiKeys } from "#core/storage/api-keys/api-keys.ts";

export type KeyUsesDeps = { keys: Pick<ApiKeys, "markUsed">; clock: Clock; log: Log };

const hourMs = 3_600_000;

/** Writes down in which hour a key was last used: once an hour of a process and key, and no request waits for it. */
export const keyUses = ({ keys, clock, log }: KeyUsesDeps) => {
  const marked = new LRUCache<string, number>(atMostEntries(10_000));
  return ({ _id, last_used_at: last }: Pick<ApiKeyRow, "_id" | "last_used_at">): void => {
    const hour = Math.floor(clock.now().getTime() / hourMs) * hourMs;
    if ((last?.getTime() ?? 0) >= hour || marked.get(_id) === hour) return;
    marked.set(_id, hour);
    keys.markUsed(_id, new Date(hour)).catch((err: unknown) => {
      marked.delete(_id);
      log.warn({ err, key: _id }, "key_use.not_marked");
    });
  };
};
