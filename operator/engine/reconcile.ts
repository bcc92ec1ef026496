import { ValidationError } from "#core/errors.ts";
import { isConflict, isNotFound, KubeError } from "#core/runtime/kube/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { Deposed } from "#core/storage/settings/managed.ts";
import type { Note } from "../kube/events.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { type Handler, refusal, type Verdict } from "./handler.ts";
import { hasFinalizer, type ObjectWriterDeps, objectWriter, statusOnError } from "./object-writer.ts";

export type Result =
  | { kind: "done"; verdict?: Verdict }
  | { kind: "again"; afterMs: number; verdict?: Verdict }
  | { kind: "failed"; error: unknown };

export type ReconcileDeps<R extends Resource> = ObjectWriterDeps<R> & {
  definition: ResourceDefinition;
  handler: Handler<R>;
  log: Log;
};

const blockedRetryMs = 2_000; // a deletion that waits for others to go first

/** What is done about an object. Neither call rejects: an error is a result. */
export type Passes<R extends Resource> = {
  /** One pass over one object. */
  pass: (resource: R, signal: AbortSignal) => Promise<Result>;
  /** Removes what was made for an object that was deleted in spite of our finalizer; nothing when it is still there. */
  undo: (resource: R, signal: AbortSignal) => Promise<Result>;
};

/** One pass over an object: the handler's verdict becomes its status, an error its condition Synced. */
export const reconcileOnce = <R extends Resource>(deps: ReconcileDeps<R>): Passes<R> => {
  const { handler, log } = deps;
  const write = objectWriter(deps);
  const specFault = specCheck(deps.definition);

  const make = async (resource: R, signal: AbortSignal): Promise<Result> => {
    const current = await write.finalizer(resource, true, signal);
    if (current === null) return { kind: "done" }; // it was deleted meanwhile: nothing is to be made for it
    const verdict = specFault(current) ?? (await handler.reconcile(current, signal));
    const { requeueAfterMs, isChanged: _, ...said } = verdict;
    await write.status(current, { ...said, synced: went }, signal);
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
    await write.status(resource, statusOnError(resource, error), signal).catch(() => {}); // reported again next time
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

/** Whether somebody, or the next leader, changed an object since it was read. That is no fault: it is read again. */
const isRace = (error: unknown): boolean => isConflict(error) || isNotFound(error) || error instanceof Deposed;

/** Whether the API server refuses every write of an object, because it breaks a rule that is newer than the object. */
const isInvalid = (error: unknown): boolean => error instanceof KubeError && error.status === 422;

const invalid: Note = {
  type: "Warning",
  reason: "InvalidSpec",
  message: "it breaks a rule of its CustomResourceDefinition that is newer than it; nothing is done about it",
};

const went: Finding = { status: "True", reason: "Reconciled", message: "the last reconciliation went through" };

/** Checks the spec again: the API server checked it against a CRD that may be another release's. */
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
