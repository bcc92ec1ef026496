import type { Resource } from "#core/runtime/kube/objects.ts";
import type { StoreEvent } from "../kube/store.ts";
import type { Priority } from "./work-queue.ts";

/** The priority of an event; null for one that only repeats what the operator wrote itself. */
export const priorityOf = <R extends Resource>(event: StoreEvent<R>): Priority | null => {
  switch (event.kind) {
    case "added":
      return firstPriority(event.object);
    case "same":
      return "resync";
    case "deleted":
      return null;
    case "changed":
      if (concern(event.object) === concern(event.before)) return null;
      return event.object.metadata.deletionTimestamp === undefined ? "changed" : "deleted";
  }
};

/** After a start every object is new to the operator, but one whose newest generation was reconciled need not hurry. */
export const firstPriority = ({ metadata, status }: Resource<unknown, { observedGeneration?: number }>): Priority =>
  status?.observedGeneration === metadata.generation ? "resync" : "new";

/** Whether an event matters to those that depend on the object; a new finalizer does not. */
export const isNews = <R extends Resource>(event: StoreEvent<R>): boolean =>
  event.kind !== "same" && (event.kind !== "changed" || visible(event.object) !== visible(event.before));

/** Nobody depends on what a resource uses. */
const visible = ({ metadata, status = {} }: Resource<unknown, { usage?: unknown }>): string => {
  const { usage: _, ...rest } = status;
  return JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations, rest]);
};

/** The parts of an object whose change needs a pass. */
const concern = ({ metadata }: Resource): string =>
  JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations, metadata.finalizers]);
