import type { Deliveries } from "../history/deliveries.ts";
import type { Sent } from "../send/send.ts";
import type { Item } from "./pending-deliveries.ts";

const toBoolean = [() => true, () => false] as const;

/** Stores a delivery as pending and settles it; whether it could be stored. Never rejects. */
export const storeWaiting = async ({ keep }: Pick<Deliveries, "keep">, item: Item): Promise<boolean> => {
  item.storing = keep(item.row);
  await item.storing.then(item.settle.resolve, item.settle.reject);
  return item.storing.then(...toBoolean);
};

/** Stores a result, with its delivery unless that is stored already, and settles the delivery. Never rejects. */
export const storeOutcome = async (
  { keep, record }: Pick<Deliveries, "keep" | "record">,
  item: Item,
  { result }: Sent,
): Promise<void> => {
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
