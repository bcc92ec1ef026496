import { keyOf, type Resource } from "#core/runtime/kube/objects.ts";
import type { StoreEvent } from "../kube/store.ts";
import { hasFinalizer } from "./object-writer.ts";

export type Vanished<R extends Resource> = ReturnType<typeof vanished<R>>;

/**
 * For how long after our finalizer was written such a deletion may still be reported: a request lasts 60 s at most, and
 * a watch that was cut is back within half a minute. An object that is missing later was removed in another way, and
 * its record stays (docs/decisions/0051).
 */
const lateMs = 120_000;

/**
 * Objects that were deleted in spite of our finalizer, so that the operator was not asked to remove what it made for
 * them. The API server reads the finalizers of an object once when it deletes it: one that is written a moment later
 * does not delay the deletion (kubernetes/kubernetes#77988, open in November 2026).
 */
export const vanished = <R extends Resource>(nowMs: () => number = () => performance.now()) => {
  const guardedAt = new Map<string, number>(); // by uid, the oldest first
  const found = new Map<string, R>(); // by uid

  const forgetOld = (): void => {
    for (const [uid, at] of guardedAt) {
      if (nowMs() - at < lateMs) return;
      guardedAt.delete(uid);
    }
  };
  return {
    /** Takes note that our finalizer is about to be written. */
    guard: ({ metadata: { uid } }: R): void => {
      forgetOld();
      guardedAt.delete(uid);
      guardedAt.set(uid, nowMs());
    },
    /** Takes note of an event; true when it is about such an object, which is then kept until `forget`. */
    note: ({ kind, object }: StoreEvent<R>): boolean => {
      if (kind !== "deleted") return false;
      forgetOld();
      const { uid, deletionTimestamp } = object.metadata;
      const isRecent = guardedAt.delete(uid);
      const isOne = isRecent && deletionTimestamp === undefined && hasFinalizer(object);
      if (isOne) found.set(uid, object);
      return isOne;
    },
    all: (): Iterable<R> => found.values(),
    /** Those that had this key. There may be another object of the same name by now. */
    of: (key: string): R[] => [...found.values()].filter((object) => keyOf(object) === key),
    forget: ({ metadata }: R): void => void found.delete(metadata.uid),
  };
};
