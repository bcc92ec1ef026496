import type { Concluded, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { Sent } from "../send/send.ts";
import type { Item } from "./pending-deliveries.ts";

export type StoreDeps = {
  /** Stores a delivery as it is; many share one write. */
  keep: (row: WebhookDeliveryRow) => Promise<void>;
  /** Stores the outcome of a delivery that is stored; likewise. */
  record: (result: Concluded) => Promise<void>;
};

const toBoolean = [() => true, () => false] as const;

/** Stores a delivery that waits, and settles its `settle`; whether it could be stored. Never rejects. */
export const storeWaiting = async ({ keep }: StoreDeps, item: Item): Promise<boolean> => {
  item.storing = keep(item.row);
  await item.storing.then(item.settle.resolve, item.settle.reject);
  return item.storing.then(...toBoolean);
};

/** Stores the outcome: with the delivery when that is not stored, else beside it; then tells. Never rejects. */
export const storeOutcome = async ({ keep, record }: StoreDeps, item: Item, { result }: Sent): Promise<void> => {
  try {
    const isStored = item.storing !== undefined && (await item.storing.then(...toBoolean));
    const { made, ...set } = result;
    if (isStored) await record(result);
    else await keep({ ...item.row, ...set, attempts: [...item.row.attempts, made] });
    item.settle.resolve();
  } catch (error) {
    item.settle.reject(error);
  }
};
