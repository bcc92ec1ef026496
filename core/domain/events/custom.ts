import type { CustomEvent, EventsAccepted } from "../../schema/events/custom.ts";
import { customEventLimits } from "../../schema/events/custom.ts";
import type { EventEnvelope } from "../../schema/events/envelope.ts";
import { customEvents } from "../../schema/events/people.ts";
import { showAs } from "../../schema/json/show.ts";
import { dayMs } from "../durations.ts";
import { derivedId, ulid } from "../ids.ts";
import { makeEvent } from "./make.ts";

export type Judged =
  /** Of all events with the same `once`, only the first of a day counts; false: each event counts. */
  | { kind: "event"; event: EventEnvelope; once: string | false }
  | { kind: "refused"; error: Omit<EventsAccepted["errors"][number], "index"> };

/**
 * Makes the `event.received` of a custom event that arrived now, or says why its time is refused. The id is new each time:
 * a sender may use their id again after a day, and receivers remember ours for longer.
 * Source: docs/reference/events.md#custom-events.
 */
export const receive = (given: CustomEvent, appId: string, now: Date, source: "api" | "sdk" = "api"): Judged => {
  const at = given.occurred_at === undefined ? now : new Date(given.occurred_at);
  const aheadMs = at.getTime() - now.getTime();
  if (aheadMs > minuteMs * customEventLimits.minutesAhead) return tooEarly;
  if (aheadMs < -dayMs * customEventLimits.daysBack) return tooOld;
  const event = makeEvent({
    kind: "event.received",
    appId,
    subjectId: given.user_id ?? given.external_id ?? null,
    at: now,
    from: [ulid(now)],
    data: dataOf(given, aheadMs > 0 ? now : at, source),
  });
  return { kind: "event", event, once: given.id !== undefined && derivedId("event", event.type, appId, given.id) };
};

const minuteMs = 60_000;

const tooEarly: Judged = {
  kind: "refused",
  error: {
    code: "OCCURRED_AT_IN_FUTURE",
    message: `occurred_at is more than ${customEventLimits.minutesAhead} minutes ahead`,
  },
};
const tooOld: Judged = {
  kind: "refused",
  error: { code: "OCCURRED_AT_TOO_OLD", message: `occurred_at is more than ${customEventLimits.daysBack} days ago` },
};

const dataOf = (
  { name, properties = {}, ...given }: CustomEvent,
  occurredAt: Date,
  source: "api" | "sdk",
): Record<string, unknown> =>
  showAs(customEvents["event.received"].data, {
    ...given,
    name: name.trim(),
    properties,
    occurred_at: occurredAt,
    source,
  });
