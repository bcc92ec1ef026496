import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { isOfOne } from "#core/queue/jetstream/passing.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import { type DeliveryResult, type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { repeatWrite } from "../../work/repeat-write.ts";
import { recoverPage } from "./recover.ts";

/** Longer than any outage that a program should outlive: what was sent and cannot be stored would be sent again. */
const storeForMs = 600_000;

/**
 * A write begins when so many deliveries wait, or so long after the one before: a command costs as much as ten deliveries
 * in it. Four dispatchers with a quarter of the traffic each then send hardly more commands than one with all of it.
 */
const writes = { keep: 250, record: 100, everyMs: 500 };
const batched = { inFlight: 2, everyMs: writes.everyMs, isOfOne };

export type Deliveries = ReturnType<typeof storedDeliveries>;

/** Deliveries in the store. Writes of one delivery share commands, and are repeated while the database is away. */
export const storedDeliveries = ({ db, clock }: { db: Db; clock: Clock }) => {
  const { keep, record, ...reads } = webhookDeliveries(db);
  return {
    ...reads,
    /** Stores a delivery as it is. */
    keep: gather<WebhookDeliveryRow, void>({ write: repeated(keep), most: writes.keep, ...batched }),
    /** Stores the result of a request for a delivery that is stored. */
    record: gather<DeliveryResult, void>({ write: repeated(record), most: writes.record, ...batched }),
    /** Has one page of what an endpoint's recovery asks for sent again; the recovery as it is then. */
    recover: (endpoint: WebhookRow) => recoverPage({ db, clock }, endpoint),
  };
};

const repeated =
  <T>(write: (items: readonly T[]) => Promise<void>) =>
  async (items: readonly T[]): Promise<void[]> => {
    await repeatWrite(storeForMs, () => write(items));
    return items.map(() => undefined);
  };
