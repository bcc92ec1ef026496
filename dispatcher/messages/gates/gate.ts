import type { SuppressionReason as ListReason } from "#core/schema/suppressions/suppression.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";

/** Why a recipient is left out on purpose. Source: docs/reference/messages.md#suppression-reasons. */
export type SuppressionReason =
  | "unsubscribed"
  | "invalid_subscription"
  | "not_test_device"
  | "session_closed"
  | "superseded"
  | "already_started"
  | "no_update_token"
  | "template_abort"
  | "duplicate_user"
  | "local_time_missed"
  | "quiet_hours"
  | "frequency_cap"
  | "control_group"
  | "quota"
  | `suppression_${ListReason}`;

/** Why this recipient is left out; null lets the next gate decide. */
export type Check = (recipient: Reached) => SuppressionReason | null;

/**
 * Decides at the moment of sending whether a recipient is left out. It is opened for the recipients of a run, to read what
 * it needs to know of all of them, and then asked for each; while a run lasts it is opened anew again and again.
 */
export type Gate = (message: MessageRow, recipients: readonly Reached[], chunk: ChunkRow) => Check | Promise<Check>;
