import { ownCallback, ownProvider } from "#core/channels/kit/own-receipts.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { ReceiptFact } from "#core/domain/messages/receipts.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { localBuckets } from "../limits/rate.ts";

export type RecordingDeps = {
  keep: CallbackQueue["keep"];
  /** Whether requests of a delivery are few enough to be recorded. */
  isFew: (deliveryId: string) => boolean;
  clock: Clock;
  log: Pick<Log, "warn">;
};

/** Whose link it is. */
export type LinkOwner = { tenantId: string; appId: string; deliveryId: string };

/** Nobody keeps an answer, as each request is to be seen, and nobody learns where it came from. */
export const uncached = {
  "Cache-Control": "no-store, private",
  "X-Robots-Tag": "noindex",
  "Referrer-Policy": "no-referrer",
};

const mostDeliveries = 50_000; // whose requests are counted, 200 bytes each; the least recently seen are forgotten
/** More of one delivery are answered, and not recorded. */
const ofDelivery = { capacity: 20, perSecond: 0.1 };

/** What says whether requests of a delivery are few. */
export const counting = (clock: Clock): RecordingDeps["isFew"] => {
  const seen = localBuckets({ max: mostDeliveries, clock });
  return (deliveryId) => seen.take(deliveryId, ofDelivery).isAllowed;
};

/** Puts a fact about a delivery into the queue of receipts. @throws Unavailable */
export const record = (
  { keep, clock }: Pick<RecordingDeps, "keep" | "clock">,
  { tenantId, appId, deliveryId }: LinkOwner,
  fact: ReceiptFact,
  address: string | null = null,
): Promise<void> => {
  const at = clock.now();
  const receipt = { deliveryId, providerId: null, address, at, ...fact };
  return keep({ tenantId, appId, provider: ownProvider }, ownCallback([receipt], at));
};

const longestMs = 1_000;

/** Has something recorded while somebody waits for an answer: for a second at most, and they get it even when it is lost. */
export const recordSoon = async (
  { isFew, log }: Pick<RecordingDeps, "isFew" | "log">,
  deliveryId: string,
  recording: () => Promise<void>,
): Promise<void> => {
  if (!isFew(deliveryId)) return;
  const recorded = recording().catch((err: unknown) => log.warn({ err }, "link.not_recorded"));
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, longestMs);
  await Promise.race([recorded, late]);
  clearTimeout(timer); // else each of thousands a second would be kept for a second
};
