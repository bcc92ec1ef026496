import type { Suppressed } from "./strength.ts";

/**
 * The categories that are left of an opt-out once somebody wants some of them again; null when it stays as it is: it is about all
 * messages, or was not said by the person.
 */
export const wishedCategories = (
  { reason, categories }: Pick<Suppressed, "reason" | "categories">,
  wishes: ReadonlyMap<string, boolean>,
): string[] | null => {
  if (reason !== "unsubscribe" || categories === null) return null;
  const left = categories.filter((one) => wishes.get(one) !== true);
  return left.length === categories.length ? null : left;
};
