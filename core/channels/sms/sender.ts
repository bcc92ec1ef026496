import { hash } from "node:crypto";
import { worded } from "../../schema/json/patterns.ts";

/** What messages may come from: a phone number, a short code, or a name of up to 11 letters, digits and spaces. */
export const senderPattern = worded(
  "^(\\+[1-9]\\d{6,14}|[A-Za-z0-9 ]{1,11})$",
  "must be a phone number such as +4915112345678, or 1 to 11 letters, digits and spaces",
);

export const isSender = (text: string): boolean => new RegExp(senderPattern).test(text);

/**
 * The sender of a pool for one recipient: always the same, and another only for those whose sender left the pool, or to
 * whom a new one falls (rendezvous hashing). Null for an empty pool.
 */
export const senderFor = (pool: readonly string[], address: string): string | null => {
  const [first = null, ...others] = pool;
  if (others.length === 0) return first;
  const weighed = pool.map((sender) => ({ sender, weight: hash("sha256", `${sender} ${address}`) }));
  return weighed.reduce((best, one) => (one.weight > best.weight ? one : best)).sender;
};
