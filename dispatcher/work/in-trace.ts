import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";

/**
 * A message as the work on it sees it: what is published, sent and logged of it belongs to the span of this work. Nothing of
 * that is stored: the document keeps the context of the request that made it.
 */
export const inTrace = (message: MessageRow, traceparent: string | null): MessageRow =>
  isSampled(traceparent) ? { ...message, traceparent } : message;
