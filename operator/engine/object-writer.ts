import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { type Condition, reconcileRequestCharacters } from "#core/schema/kubernetes/common.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";
import type { ResourceApi } from "../kube/api.ts";
import type { Note } from "../kube/events.ts";
import {
  conditionsIn,
  conditionsOf,
  type Finding,
  readyIn,
  refused,
  statusPatch,
  waiting,
} from "../policies/conditions.ts";
import type { Verdict } from "./handler.ts";

export type ObjectWriterDeps<R extends Resource> = {
  api: ResourceApi<R>;
  /** Called before our finalizer is written. */
  onGuard: (resource: R) => void;
  /** Called with an object as a write of ours gave it back; false when it was deleted since. */
  onWritten: (resource: R) => boolean;
  /** Reports to people, by Kubernetes Events. */
  report: (resource: R, note: Note) => void;
  clock: Clock;
};

/** The annotation by which a person asks for a reconciliation now: any new value, as the time of day. */
export const reconcileAnnotation = "herald.dev/reconcile";

export const finalizer = "herald.dev/finalizer";

/** Whether Kubernetes waits for the operator before it deletes the object. */
export const hasFinalizer = ({ metadata }: Resource): boolean => metadata.finalizers?.includes(finalizer) ?? false;

export type StatusChange = Pick<Verdict, "status" | "conditions"> & { ready?: Finding; synced: Finding };

/** Writes what the operator may write of an object: its finalizer and its status. */
export const objectWriter = <R extends Resource>({ api, onGuard, onWritten, report, clock }: ObjectWriterDeps<R>) => ({
  /** Sets or removes our finalizer, and gives the object as it is now; null when it is gone. */
  finalizer: async (resource: R, isWanted: boolean, signal: AbortSignal): Promise<R | null> => {
    if (hasFinalizer(resource) === isWanted) return resource;
    if (isWanted) onGuard(resource);
    const others = (resource.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    const written = await api.setFinalizers(resource, isWanted ? [...others, finalizer] : others, signal);
    return !isWanted || onWritten(written) ? written : null;
  },
  /** Writes the status when something in it is new. Without `status` the kind's own members stay as they are. */
  status: async (
    resource: R,
    { status, conditions: own, ready, synced }: StatusChange,
    signal: AbortSignal,
  ): Promise<void> => {
    const before = resource.status ?? {};
    const generation = resource.metadata.generation ?? 0;
    const findings = { ...own, Synced: synced, ...(ready === undefined ? {} : { Ready: ready }) };
    const conditions = conditionsOf(conditionsIn(resource), findings, { generation, now: clock.now() });
    const handled = synced.status === "True" ? askedOf(resource) : handledIn(before);
    const after = {
      ...(status ?? before),
      observedGeneration: generation,
      conditions,
      lastHandledReconcileAt: handled, // absent: nobody asked
    };
    const patch = statusPatch(before, after);
    if (patch !== null) onWritten(await api.patchStatus(resource, patch, signal));
    if (ready !== undefined && isNews(readyIn(resource), ready)) report(resource, noteOf(ready));
  },
});

const handledIn = (status: Handled): string | undefined => status.lastHandledReconcileAt;

const askedOf = ({ metadata }: Resource): string | undefined =>
  metadata.annotations?.[reconcileAnnotation]?.slice(0, reconcileRequestCharacters);

/** Whether a person asks for a reconciliation of a spec that was reconciled before: what it writes is a repair. */
export const isAskedAgain = (resource: Resource): boolean => {
  const { observedGeneration, lastHandledReconcileAt }: Handled = resource.status ?? {};
  const asked = askedOf(resource);
  const isNew = asked !== undefined && asked !== lastHandledReconcileAt;
  return isNew && observedGeneration === resource.metadata.generation;
};

type Handled = { observedGeneration?: number; lastHandledReconcileAt?: string };

const isNews = (before: Condition | undefined, { status, reason }: Finding): boolean =>
  before?.status !== status || before.reason !== reason;

const noteOf = ({ status, reason, message }: Finding): Note => ({
  type: status === "False" ? "Warning" : "Normal",
  reason,
  message,
});

/**
 * The only place that turns errors into conditions. Ready keeps what it said of this generation; of a new one nothing
 * is known yet.
 */
export const statusOnError = (resource: Resource, error: unknown): StatusChange => {
  const synced = findingOf(error);
  const isKnown = readyIn(resource)?.observedGeneration === (resource.metadata.generation ?? 0);
  return isKnown ? { synced } : { synced, ready: waiting(synced.reason, synced.message) };
};

/** Messages of unknown errors appear in the log only, because they may quote secrets. */
const findingOf = (thrown: unknown): Finding => {
  const error = unavailable(thrown);
  if (error instanceof AppError)
    return refused(error.code === "HS_UNAVAILABLE" ? "Unavailable" : "Failed", error.message);
  if (error instanceof KubeError) return refused("KubernetesError", error.message);
  return refused("Failed", "an unexpected error, which the operator's log tells; it is tried again");
};
