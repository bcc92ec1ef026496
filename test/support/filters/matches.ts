import type { Query } from "#core/domain/filters/pre-filter.ts";

/** Whether a document matches a query of the few operators that pre-filters have, as MongoDB defines them. */
export const matches = (query: Query, document: object): boolean =>
  Object.entries(query).every(([name, wanted]) => {
    if (name === "$and") return listOf(wanted).every((one) => matches(one, document));
    if (name === "$or") return listOf(wanted).some((one) => matches(one, document));
    const found = valuesAt(document, name.split("."));
    if (wanted === null) return found.length === 0 || found.some((one) => one === null);
    return Object.entries(wanted as object).every(([op, value]) => isTrue(op, value, found)); // sound: an object of operators
  });

const listOf = (value: unknown): Query[] => value as Query[]; // sound: of $and and $or

/** What a path leads to, through lists too; with the items of a list at its end. */
const valuesAt = (of: unknown, [name, ...rest]: string[]): unknown[] => {
  if (name === undefined) return Array.isArray(of) ? [of, ...of] : [of];
  if (Array.isArray(of)) return of.flatMap((item) => valuesAt(item, [name, ...rest]));
  if (typeof of !== "object" || of === null || !Object.hasOwn(of, name)) return [];
  return valuesAt(Reflect.get(of, name), rest);
};

const isTrue = (op: string, wanted: unknown, found: readonly unknown[]): boolean => {
  const some = (isSo: (value: number) => boolean) =>
    found.some(
      (one) => (one instanceof Date || typeof one === "number") && typeof wanted === typeof one && isSo(Number(one)),
    );
  const at = Number(wanted);
  switch (op) {
    case "$in":
      return (wanted as unknown[]).some((one) => found.some((value) => comparable(value) === comparable(one)));
    case "$exists":
      return found.length > 0;
    case "$gt":
      return some((value) => value > at);
    case "$gte":
      return some((value) => value >= at);
    case "$lt":
      return some((value) => value < at);
    case "$lte":
      return some((value) => value <= at);
    default:
      throw new Error(`pre-filters have no ${op}`);
  }
};

const comparable = (value: unknown): unknown => (value instanceof Date ? value.toISOString() : value);
