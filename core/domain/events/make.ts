import type { EventEnvelope, EventKind } from "../../schema/events/envelope.ts";
import { derivedId } from "../ids.ts";
import { bounded } from "./text.ts";

export type EventFacts = {
  kind: EventKind;
  appId: string;
  subjectId: string | null;
  data: Record<string, unknown>;
  at: Date;
  /** Ids from which the event follows: made twice it has the same id, so that it is delivered once. */
  from: readonly string[];
};

/**
 * Makes the envelope of an event, cut to what a webhook may carry; it says when its data was cut. It is cut here because
 * documents keep it and JetStream takes no more than 1 MiB. Source: docs/reference/events.md#envelope.
 */
export const makeEvent = (facts: EventFacts): EventEnvelope => bounded(uncutEvent(facts));

/** The same for an event that nobody keeps but as the text that is published, which is cut in any case. */
export const uncutEvent = ({ kind, appId, subjectId, data, at, from }: EventFacts): EventEnvelope => ({
  id: derivedId("event", kind, ...from),
  type: kind,
  timestamp: at.toISOString(),
  app_id: appId,
  subject_id: subjectId,
  api_version: "1.0",
  data,
  ...(data["truncated"] === true && { truncated: true }),
});
