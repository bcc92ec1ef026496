import type { Clock } from "#core/domain/clock.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";

export type HandOverDeps = {
  endpoints: Pick<WebhookWork, "makeDue">;
  /** Rings an endpoint's doorbell. */
  ring: (endpointId: string) => Promise<unknown>;
  clock: Clock;
};

const sweepAfterMs = 10_000; // how long a lost doorbell goes unnoticed

/** Has another look at an endpoint: now when the doorbell is heard, else a little later. */
export const handOver = async ({ endpoints, ring, clock }: HandOverDeps, id: string): Promise<void> => {
  await endpoints.makeDue([id], new Date(clock.now().getTime() + sweepAfterMs));
  await ring(id);
};
