import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Shares } from "./shares.ts";

export type WalksDeps = {
  deliveries: Pick<WebhookDeliveries, "nextWaiting">;
  endpoints: Pick<WebhookWork, "recovering">;
  shares: Pick<Shares, "isOwned" | "owned">;
  /** Something is due for an endpoint at an instant. */
  found: (endpointId: string, dueAt: Date) => void;
  log: Log;
};

/** Finds what waits in the store for the endpoints of this process. */
export type Walks = Part & {
  /** Has a share walked soon: it has just been taken. */
  add: (share: number) => void;
  /** Has all of them walked soon, as each minute: a notice may have been lost. */
  addAll: () => void;
};

const everyMs = 60_000;
const pauseMs = 250;

export const walks = ({ deliveries, endpoints, shares, found, log }: WalksDeps): Walks => {
  const waiting = new Set<number>();
  let addedMs = performance.now();

  const addAll = (): void => {
    addedMs = performance.now();
    for (const share of shares.owned()) waiting.add(share);
  };
  /** One endpoint after another, however many deliveries wait for each. */
  const walk = async (share: number, stop: AbortSignal): Promise<void> => {
    for (const id of await endpoints.recovering()) if (shareOf(id) === share) found(id, new Date(0));
    for (let after = ""; shares.isOwned(share) && !stop.aborted; ) {
      const next = await deliveries.nextWaiting(share, after);
      if (next === null) return;
      found(next.endpointId, next.dueAt);
      after = next.endpointId;
    }
  };
  const pass = async (stop: AbortSignal): Promise<void> => {
    if (performance.now() - addedMs >= everyMs) addAll();
    for (const share of waiting) {
      if (stop.aborted) return;
      waiting.delete(share); // before: it may be taken anew meanwhile
      await walk(share, stop).catch((error: unknown) => {
        waiting.add(share);
        throw error;
      });
    }
  };
  const onError = (err: unknown): void => log.warn({ err }, "webhook_walk.failed");
  return {
    ...passes({ name: "webhook walks", everyMs: pauseMs, pass, onError }),
    add: (share) => void waiting.add(share),
    addAll,
  };
};
