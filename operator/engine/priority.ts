import type { Resource } from "../kube/objects.ts";
import type { StoreEvent } from "../kube/store.ts";
import type { Priority } from "./work-queue.ts";

/** None for an event that only repeats what the operator wrote itself. */
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

/** After a start everything is new to the operator, but what it has seen through before need not hurry. */
export const firstPriority = ({ metadata, status }: Resource): Priority => {
  const { observedGeneration } = (status ?? {}) as { observedGeneration?: number }; // of the CRD's schema
  return observedGeneration === metadata.generation ? "resync" : "new";
};

/** Whether an event is news to those that depend on the object; that it got our finalizer is not. */
export const isNews = <R extends Resource>(event: StoreEvent<R>): boolean =>
  event.kind !== "same" && (event.kind !== "changed" || visible(event.object) !== visible(event.before));

const visible = ({ metadata, status }: Resource): string =>
  JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations, status]);

/** The parts of an object that a person can change and that matter here. */
const concern = ({ metadata }: Resource): string =>
  JSON.stringify([metadata.generation, metadata.deletionTimestamp, metadata.annotations, metadata.finalizers]);
