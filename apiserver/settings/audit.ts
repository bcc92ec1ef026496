import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import { type AuditFact, auditEntry, auditEventsOf, changesOf } from "#core/queue/audit.ts";
import type { IntendedChange } from "#core/storage/work/intended-changes.ts";
import type { Caller } from "../access/caller.ts";
import type { EventStore } from "../publishing/event-store.ts";

/**
 * What a change will have done, and where it can be seen. `isAwaited`: whoever asked for it hears that it was made when
 * JetStream has its event, which so comes before all events of the app that they have published later; or after 250 ms.
 */
export type Intended = { fact: AuditFact; change: IntendedChange; isAwaited?: boolean };

/**
 * Makes a change that an event reports; null when `make` gives null, because it could not be made. The event is stored
 * first: it is neither lost when the change was made, nor published when it was not, whatever fails between.
 */
export type Audit = <T>(intended: Intended, make: (changeId: string) => Promise<T | null>) => Promise<T | null>;

const awaitedMs = 250; // for JetStream, which takes a few milliseconds unless it is away

/** Reports changes as events `audit.created` and in the audit log, both stored in one document before the change is made. Source: docs/reference/events.md#audit-events. */
export const auditEvents =
  ({ prepare, clock }: { prepare: EventStore["prepare"]; clock: Clock }): Audit =>
  async ({ fact, change, isAwaited = false }, make) => {
    const { tenantId, appId } = fact;
    const events = auditEventsOf(fact, clock.now());
    const prepared = await prepare({ tenantId, appId: appId ?? tenantId, traceparent: null, events }, change, [
      auditEntry(fact, clock.now()),
    ]);
    try {
      const made = await make(prepared.changeId);
      if (made === null) prepared.withdraw();
      else {
        const published = prepared.publish();
        if (isAwaited) await Promise.race([published, sleep(awaitedMs, undefined, { ref: false })]);
      }
      return made;
    } catch (error) {
      if (error instanceof AppError) prepared.withdraw(); // refused; after any other error it may have been made
      throw error;
    }
  };

/** Who asked for a change, and from where. */
export type By = { caller: Caller; ip: string; requestId: string };

/** A change of a thing of an app, as the REST interface shows the thing before and after; null where it was not. */
export type Changed = {
  /** Kind of the thing, such as `webhook`. */
  type: string;
  collection: IntendedChange["collection"];
  id: string;
  appId: string | null;
  verb: string;
  before: object | null;
  after: object | null;
};

export const intend = ({ caller, ip, requestId }: By, changed: Changed): Intended => {
  const { type, collection, id, appId, verb, before, after } = changed;
  return {
    fact: {
      tenantId: caller.tenant._id,
      appId,
      actor: { type: "api_key", id: caller.key._id },
      action: `${type}.${verb}`,
      target: { type, id },
      changes: changesOf(before, after),
      ip,
      requestId,
    },
    change: { collection, document_id: id, kind: kindOf(changed) },
  };
};

const kindOf = ({ before, after }: Changed): IntendedChange["kind"] => {
  if (before === null) return "made";
  return after === null ? "removed" : "changed";
};
