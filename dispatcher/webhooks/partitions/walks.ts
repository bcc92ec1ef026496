import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import { shareCount } from "#core/domain/webhooks/shares.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { EndpointKey, Endpoints } from "./endpoints.ts";
import type { Partitions } from "./partitions.ts";

export type WalksDeps = {
  deliveries: Pick<WebhookDeliveries, "nextWaiting">;
  endpoints: Pick<WebhookWork, "recovering"> & Pick<Endpoints, "keyOfId" | "notify" | "walkerOf">;
  partitions: Pick<Partitions, "isOwned" | "owned">;
  /** Something is due for an endpoint of this process at an instant. */
  found: (endpoint: EndpointKey, dueAt: Date) => void;
  log: Log;
};

/** Finds what waits in the store for the endpoints of this process. */
export type Walks = Part & {
  /** Has all shares walked soon: a partition has just been taken, or notices may have been lost. */
  addAll: () => void;
};

const everyMs = 60_000;
const pauseMs = 250;
/** Whose an endpoint is does not change while it is there; beyond so many it is read again. */
const mostKeys = 100_000;

/**
 * Walks over what waits, share by share, from one endpoint to the next. Each minute each share is walked by one process,
 * which notifies the owners of what it finds.
 */
export const walks = ({ deliveries, endpoints, partitions, found, log }: WalksDeps): Walks => {
  const waiting = new Set<number>();
  const keys = new LRUCache<string, EndpointKey>(atMostEntries(mostKeys));
  let addedMs = performance.now();
  let areRecoveriesWaiting = false;

  const add = (isChosen: (share: number) => boolean): void => {
    areRecoveriesWaiting = true;
    for (let share = 0; share < shareCount; share++) if (isChosen(share)) waiting.add(share);
  };
  const addAll = (): void => {
    const ownsSome = partitions.owned().length > 0;
    add(() => ownsSome);
  };
  const addEachMinute = (): void => {
    if (performance.now() - addedMs < everyMs) return;
    addedMs = performance.now();
    add((share) => partitions.isOwned(endpoints.walkerOf(share)));
  };
  const note = async (id: string, dueAt: Date): Promise<void> => {
    const key = keys.get(id) ?? (await endpoints.keyOfId(id));
    keys.set(id, key);
    if (partitions.isOwned(key.partition)) found(key, dueAt);
    else endpoints.notify(key);
  };
  /** One endpoint after another, however many deliveries wait for each. */
  const walk = async (share: number, stop: AbortSignal): Promise<void> => {
    for (let after = ""; partitions.owned().length > 0 && !stop.aborted; ) {
      const next = await deliveries.nextWaiting(share, after);
      if (next === null) return;
      await note(next.endpointId, next.dueAt);
      after = next.endpointId;
    }
  };
  const findRecoveries = async (): Promise<void> => {
    if (!areRecoveriesWaiting) return;
    for (const id of await endpoints.recovering()) await note(id, new Date(0));
    areRecoveriesWaiting = false;
  };
  const pass = async (stop: AbortSignal): Promise<void> => {
    addEachMinute();
    await findRecoveries();
    for (const share of waiting) {
      if (stop.aborted) return;
      waiting.delete(share); // before: it may be added anew meanwhile
      await walk(share, stop).catch((error: unknown) => {
        waiting.add(share);
        throw error;
      });
    }
  };
  const onError = (err: unknown): void => log.warn({ err }, "webhook_walk.failed");
  return { ...passes({ name: "webhook walks", everyMs: pauseMs, pass, onError }), addAll };
};
