import type { Clock } from "#core/domain/clock.ts";
import { sweepMs } from "#core/domain/durations.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";

export type MakeDueDeps = {
  endpoints: Pick<WebhookWork, "wake">;
  /** Publishes an endpoint hint. */
  publishHint: (endpointId: string) => Promise<unknown>;
  clock: Clock;
};

/** Has a dispatcher look at an endpoint: as soon as the hint arrives, or after the sweep interval when it is lost. */
export const makeDue = async ({ endpoints, publishHint, clock }: MakeDueDeps, id: string): Promise<void> => {
  await endpoints.wake([id], new Date(clock.now().getTime() + sweepMs));
  await publishHint(id);
};
