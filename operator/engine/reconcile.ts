import type { Clock } from "#core/domain/clock.ts";
import { AppError, ValidationError } from "#core/errors.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";
import { Deposed } from "#core/storage/settings/managed.ts";
import type { ResourceApi } from "../kube/api.ts";
import { isConflict, isNotFound, KubeError } from "../kube/errors.ts";
import type { Note } from "../kube/events.ts";
import type { Resource } from "../kube/objects.ts";
import { conditionsOf, type Finding, refused, statusPatch, waiting } from "../policies/conditions.ts";
import { type Handler, refusal, type Verdict } from "./handler.ts";

export type Result =
  | { kind: "done"; verdict?: Verdict }
  | { kind: "again"; afterMs: number; verdict?: Verdict }
  | { kind: "failed"; error: unknown };

export type ReconcileDeps<R extends Resource> = {
  definition: ResourceDefinition;
  handler: Handler<R>;
  api: ResourceApi<R>;
  /** Called before our finalizer is written. */
  onGuard: (resource: R) => void;
  /** Takes note of an object that a write of ours gave back; false when it has gone since. */
  onWritten: (resource: R) => boolean;
  /** Reports to people, by Kubernetes Events. */
  report: (resource: R, note: Note) => void;
  clock: Clock;
  log: Log;
};

export const finalizer = "herald.dev/finalizer";
const blockedRetryMs = 2_000; // a deletion that waits for others to go first

/** What is done about an object. Neither rejects. */
export type Passes<R extends Resource> = {
  /** One pass over one object. */
  pass: (resource: R, signal: AbortSignal) => Promise<Result>;
  /** Takes away what was made for an object that went although it had our finalizer; of one that is still there, nothing. */
  undo: (resource: R, signal: AbortSignal) => Promise<Result>;
};

/** The only place that turns errors into conditions. */
export const reconcileOnce = <R extends Resource>(deps: ReconcileDeps<R>): Passes<R> => {
  const { handler, log } = deps;
  const write = writer(deps);
  const specFault = specCheck(deps.definition);

  const make = async (resource: R, signal: AbortSignal): Promise<Result> => {
    const current = await write.finalizer(resource, true, signal);
    if (current === null) return { kind: "done" }; // it went meanwhile: nothing is to be made for it
    const verdict = specFault(current) ?? (await handler.reconcile(current, signal));
    const { status, ready } = verdict;
    await write.status(current, { ready, synced: went, ...(status && { status }) }, signal);
    const { requeueAfterMs } = verdict;
    return requeueAfterMs === undefined
      ? { kind: "done", verdict }
      : { kind: "again", afterMs: requeueAfterMs, verdict };
  };

  const unmake = async (resource: R, signal: AbortSignal): Promise<Result> => {
    if (!hasFinalizer(resource)) return { kind: "done" };
    const blocked = await handler.remove(resource, signal);
    if (blocked === null) {
      await write.finalizer(resource, false, signal);
      return { kind: "done" };
    }
    await write.status(resource, { ready: blocked, synced: went }, signal);
    return { kind: "again", afterMs: blockedRetryMs };
  };

  const reportFault = async (resource: R, error: unknown, signal: AbortSignal): Promise<void> => {
    const { namespace, name } = resource.metadata;
    log.error({ namespace, name, err: error }, "reconcile.failed");
    if (isInvalid(error)) deps.report(resource, invalid); // its status cannot be written either
    await write.status(resource, onError(resource, error), signal).catch(() => {}); // reported again next time
  };

  const settled =
    (work: Passes<R>["pass"]): Passes<R>["pass"] =>
    async (resource, signal) => {
      try {
        return await work(resource, signal);
      } catch (error) {
        if (!signal.aborted && !isRace(error)) await reportFault(resource, error, signal);
        return { kind: "failed", error };
      }
    };

  return {
    pass: settled((resource, signal) =>
      (resource.metadata.deletionTimestamp === undefined ? make : unmake)(resource, signal),
    ),
    undo: settled(undoing(deps)),
  };
};

const undoing =
  <R extends Resource>({ api, handler, log }: ReconcileDeps<R>): Passes<R>["undo"] =>
  async (resource, signal) => {
    if (await api.isThere(resource, signal)) return { kind: "done" }; // it only lost its label
    const blocked = await handler.remove(resource, signal);
    if (blocked !== null) return { kind: "again", afterMs: blockedRetryMs };
    const { namespace, name } = resource.metadata;
    log.warn({ namespace, name }, "resource.vanished");
    return { kind: "done" };
  };

/** Somebody, or the next leader, wrote or removed an object since it was read: no fault, and it is read anew. */
const isRace = (error: unknown): boolean => isConflict(error) || isNotFound(error) || error instanceof Deposed;

/** Stored before the API server had a rule that it breaks: whatever is written of it is refused. */
const isInvalid = (error: unknown): boolean => error instanceof KubeError && error.status === 422;

const invalid: Note = {
  type: "Warning",
  reason: "InvalidSpec",
  message: "it breaks a rule of its CustomResourceDefinition that is newer than it; nothing is done about it",
};

const went: Finding = { status: "True", reason: "Reconciled", message: "the last reconciliation went through" };

type StatusChange = { status?: Record<string, unknown>; ready?: Finding; synced: Finding };

const writer = <R extends Resource>({ api, onGuard, onWritten, report, clock }: ReconcileDeps<R>) => ({
  /** Gives the object as it is now; null when it is gone. */
  finalizer: async (resource: R, isWanted: boolean, signal: AbortSignal): Promise<R | null> => {
    if (hasFinalizer(resource) === isWanted) return resource;
    if (isWanted) onGuard(resource);
    const others = (resource.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    const written = await api.setFinalizers(resource, isWanted ? [...others, finalizer] : others, signal);
    return !isWanted || onWritten(written) ? written : null;
  },
  /** Written only when something is new. Without `status` the kind's own members stay as they are. */
  status: async (resource: R, { status, ready, synced }: StatusChange, signal: AbortSignal): Promise<void> => {
    const before = (resource.status ?? {}) as { conditions?: Condition[] }; // of the CRD's schema
    const generation = resource.metadata.generation ?? 0;
    const findings = { Synced: synced, ...(ready === undefined ? {} : { Ready: ready }) };
    const conditions = conditionsOf(before.conditions ?? [], findings, { generation, now: clock.now() });
    const after = { ...(status ?? before), observedGeneration: generation, conditions };
    const patch = statusPatch(before, after);
    if (patch !== null) onWritten(await api.patchStatus(resource, patch, signal));
    if (ready !== undefined && isNews(before.conditions ?? [], ready)) report(resource, noteOf(ready));
  },
});

const isNews = (before: readonly Condition[], { status, reason }: Finding): boolean =>
  !before.some((old) => old.type === "Ready" && old.status === status && old.reason === reason);

const noteOf = ({ status, reason, message }: Finding): Note => ({
  type: status === "False" ? "Warning" : "Normal",
  reason,
  message,
});

/** The API server has checked the spec against the CRD, which may be another release's. */
const specCheck = ({ spec }: ResourceDefinition) => {
  const parse = parser(spec, { prefix: "spec" });
  return (resource: Resource): Verdict | null => {
    try {
      parse(resource.spec);
      return null;
    } catch (error) {
      if (!(error instanceof ValidationError)) throw error;
      return refusal(refused("InvalidSpec", error.message));
    }
  };
};

/** Whether an object waits for us when it is deleted. */
export const hasFinalizer = ({ metadata }: Resource): boolean => metadata.finalizers?.includes(finalizer) ?? false;

/** Ready keeps what it said of this generation; of a new one nothing is known yet. */
const onError = (resource: Resource, error: unknown): StatusChange => {
  const synced = findingOf(error);
  const { conditions = [] } = (resource.status ?? {}) as { conditions?: Condition[] }; // of the CRD's schema
  const isKnown = conditions.some(
    ({ type, observedGeneration }) => type === "Ready" && observedGeneration === (resource.metadata.generation ?? 0),
  );
  return isKnown ? { synced } : { synced, ready: waiting(synced.reason, synced.message) };
};

/** Messages of unknown errors stay in the log: they may quote what they failed on. */
const findingOf = (thrown: unknown): Finding => {
  const error = unavailable(thrown);
  if (error instanceof AppError)
    return refused(error.code === "HS_UNAVAILABLE" ? "Unavailable" : "Failed", error.message);
  if (error instanceof KubeError) return refused("KubernetesError", error.message);
  return refused("Failed", "an unexpected error, which the operator's log tells; it is tried again");
};
