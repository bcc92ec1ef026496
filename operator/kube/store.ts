import { isDeepStrictEqual } from "node:util";
import { type KubeObject, keyOf } from "#core/runtime/kube/objects.ts";

/** What happened to an object since it was last seen. `same`: a new list shows it unchanged. */
export type StoreEvent<T> =
  | { kind: "added" | "same"; object: T }
  | { kind: "changed"; object: T; before: T }
  | { kind: "deleted"; object: T };

export type Store<T extends KubeObject> = ReturnType<typeof objectStore<T>>;

export type Indexes<T> = Record<string, (object: T) => readonly string[]>;

/** The objects of one kind as last seen, by key and by index. */
export const objectStore = <T extends KubeObject>(indexes: Indexes<T> = {}) => {
  const objects = new Map<string, T>();
  const index = indexer(indexes);

  /** Stores an object that a watch, or a write of the operator, gave; a version older than the stored one is dropped. */
  const put = (object: T): StoreEvent<T>[] => {
    const key = keyOf(object);
    const before = objects.get(key);
    if (before !== undefined && isStale(object, before)) return [];
    objects.set(key, object);
    if (before !== undefined) index.remove(key, before);
    index.add(key, object);
    return transition(before, object);
  };
  const remove = (object: T): StoreEvent<T>[] => {
    const key = keyOf(object);
    const before = objects.get(key);
    if (before === undefined) return [];
    objects.delete(key);
    index.remove(key, before);
    return [{ kind: "deleted", object }];
  };
  /** Stores the result of a whole list; objects of what was listed that are no longer in it count as deleted. */
  const replace = (listed: readonly T[], isWithin: (object: T) => boolean = () => true): StoreEvent<T>[] => {
    const present = new Set(listed.map(keyOf));
    const gone = [...objects.values()].filter((object) => isWithin(object) && !present.has(keyOf(object)));
    return [...gone.flatMap(remove), ...listed.flatMap((object) => seen(put(object), refreshed(object)))];
  };
  /** The same version has other members when a CRD of another release has other defaults. */
  const refreshed = (object: T): T => {
    const known = objects.get(keyOf(object));
    const isOther = known !== undefined && isSameVersion(object, known) && !isDeepStrictEqual(object, known);
    if (isOther) objects.set(keyOf(object), object);
    return object;
  };
  /** Objects for which the index function gave this value. */
  const by = (name: string, value: string): T[] => index.keys(name, value).flatMap((key) => objects.get(key) ?? []);
  /** Other objects that share a value of the index with this one; none when there is no such index. */
  const sharing = (name: string, object: T): T[] =>
    (indexes[name]?.(object) ?? []).flatMap((value) => by(name, value)).filter((one) => keyOf(one) !== keyOf(object));

  return {
    get: (key: string): T | undefined => objects.get(key),
    all: (): Iterable<T> => objects.values(),
    size: (): number => objects.size,
    by,
    sharing,
    put,
    remove,
    replace,
  };
};

/** An object that a list shows unchanged makes an event too: its resync. */
const seen = <T>(events: StoreEvent<T>[], object: T): StoreEvent<T>[] =>
  events.length > 0 ? events : [{ kind: "same", object }];

/**
 * Whether a version is the known one, e.g. of our own write, or an older one. Versions grow and may be compared
 * (KEP-5504).
 */
const isStale = ({ metadata: next }: KubeObject, { metadata: known }: KubeObject): boolean =>
  next.uid === known.uid && compareVersions(next.resourceVersion, known.resourceVersion) <= 0;

const isSameVersion = ({ metadata: a }: KubeObject, { metadata: b }: KubeObject): boolean =>
  a.uid === b.uid && a.resourceVersion === b.resourceVersion;

const compareVersions = (a: string, b: string): number => a.length - b.length || (a < b ? -1 : Number(a > b));

/** An object of the same name with another uid is another object: the first was deleted while nobody watched. */
const transition = <T extends KubeObject>(before: T | undefined, object: T): StoreEvent<T>[] => {
  if (before === undefined) return [{ kind: "added", object }];
  if (before.metadata.uid !== object.metadata.uid) {
    return [
      { kind: "deleted", object: before },
      { kind: "added", object },
    ];
  }
  return [{ kind: "changed", object, before }];
};

const indexer = <T>(indexes: Indexes<T>) => {
  const names = Object.entries(indexes);
  const entries = new Map<string, Set<string>>();
  const slots = (object: T): string[] =>
    names.flatMap(([name, valuesOf]) => valuesOf(object).map((value) => slotOf(name, value)));
  return {
    add: (key: string, object: T): void => {
      for (const slot of slots(object)) entries.set(slot, (entries.get(slot) ?? new Set()).add(key));
    },
    remove: (key: string, object: T): void => {
      for (const slot of slots(object)) {
        const keys = entries.get(slot);
        keys?.delete(key);
        if (keys?.size === 0) entries.delete(slot);
      }
    },
    keys: (name: string, value: string): string[] => [...(entries.get(slotOf(name, value)) ?? [])],
  };
};

const slotOf = (name: string, value: string): string => `${name} ${value}`;
