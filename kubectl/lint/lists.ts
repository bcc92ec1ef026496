import type { Path } from "./finding.ts";
import { isMembers, type Members } from "./manifest.ts";

/**
 * Items that stand in a list twice although their schema has it as a set, or as a map by some of their members.
 * Source: kubernetes.io, "x-kubernetes-list-type".
 */
export const repeatedItems = (schema: Members, value: unknown, path: Path): Path[] => {
  const { items, properties, additionalProperties } = schema;
  if (Array.isArray(value)) {
    const below = isMembers(items) ? items : {};
    return [
      ...repeatsIn(schema, value).map((n) => [...path, n]),
      ...value.flatMap((item: unknown, n) => repeatedItems(below, item, [...path, n])),
    ];
  }
  if (!isMembers(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const known = isMembers(properties) && Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    return isMembers(known) ? repeatedItems(known, member, [...path, name]) : [];
  });
};

const repeatsIn = (schema: Members, items: readonly unknown[]): number[] => {
  const keyOf = keys(schema);
  if (keyOf === null) return [];
  const seen = new Set<string>();
  return items.flatMap((item, n) => {
    const key = keyOf(item);
    const isRepeat = seen.has(key);
    seen.add(key);
    return isRepeat ? [n] : [];
  });
};

const keys = (schema: Members): ((item: unknown) => string) | null => {
  const { "x-kubernetes-list-type": type, "x-kubernetes-list-map-keys": names } = schema;
  if (type === "set") return (item) => JSON.stringify(item);
  if (type !== "map" || !Array.isArray(names)) return null;
  return (item) => JSON.stringify(names.map((name: string) => (isMembers(item) ? (item[name] ?? null) : null)));
};
