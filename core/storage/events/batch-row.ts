import type { EventKind } from "../../schema/events/envelope.ts";
import type { AuditRow } from "../audit/audit-log.ts";
import type { DueWork } from "../work/due.ts";
import type { IntendedChange } from "../work/intended-changes.ts";

/** An event as its JSON: what a customer put into it needs no rules about names of members. */
export type StoredEvent = {
  id: string;
  type: EventKind;
  text: string;
  /**
   * Follows from an id that the sender chose, of which the first event counts; false without one. It is claimed before the
   * event is stored, and stored as false; the last release stored it, and claimed it afterwards.
   */
  once: string | false;
};

/**
 * Events that follow from no document of their own: custom events, and facts about settings. Stored before the
 * request is answered, removed as soon as they are published.
 */
export type EventBatchRow = DueWork & {
  _id: string;
  tenant_id: string;
  app_id: string;
  events: StoredEvent[];
  /** Of their JSON, in UTF-8; absent of a former release. */
  bytes?: number;
  /** W3C trace context of a request with them: of one that is traced, if there is one, else of the first. */
  traceparent: string | null;
  /** They are true only if this change was made; absent when that is certain. */
  change?: IntendedChange;
  /** What the audit log gets to know of the change: kept before the events are published. */
  audit?: AuditRow[];
  created_at: Date;
};

/**
 * Which event stands for an id of a sender for a day. `_id` is the event's `once`. `batch_id` names the claims of one
 * write; in those that the last release wrote, which have no `event_id`, the batch that the event was stored in.
 */
export type EventIdRow = {
  _id: string;
  batch_id: string;
  event_id?: string;
  /** Whether the event was stored in a batch, as JetStream did not take it; absent otherwise. */
  is_stored?: true;
  claimed_at: Date;
};
