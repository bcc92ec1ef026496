import { variantOf } from "#core/domain/experiments/assignment.ts";
import { fallbackOf } from "#core/domain/messages/fallback.ts";
import type { FallbackStep } from "#core/schema/messages/fallback.ts";
import type { Found, Gate, Seen } from "./gate.ts";

const pass = (at: Date | null, facts: Record<string, unknown> = {}): Found => ({ verdict: "pass", at, facts });

const accepted = ({ message, delivery, now }: Seen): Found => {
  const { status, created_at: at, scheduled_for: scheduledFor, error } = message;
  const facts = { status, scheduled_for: scheduledFor };
  if (delivery !== null) return pass(at, facts);
  if (status === "cancelled") return { verdict: "stop", says: "it was cancelled", facts, at: message.completed_at };
  if (status === "failed")
    return {
      verdict: "stop",
      says: `it failed as a whole: ${error ?? ""}`,
      facts: { ...facts, error },
      at: message.completed_at,
    };
  if (scheduledFor !== null && scheduledFor > now)
    return { verdict: "wait", says: `it is scheduled for ${scheduledFor.toISOString()}`, facts, at };
  return pass(at, facts);
};

/** Of a channel that is only gone over to whom the message did not reach before. */
const fallback = ({ message, delivery, subscription }: Seen): Found | null => {
  const on = delivery?.channel ?? subscription?.channel;
  const step = fallbackOf(message.options).find(({ channel }) => channel === on);
  if (step === undefined) return null;
  const facts = { if: step.if, after_minutes: step.after_minutes, fallback_of: delivery?.fallback_of ?? null };
  if (delivery?.suppression_reason === "quota") return { verdict: "stop", facts, at: delivery.created_at };
  if (delivery !== null) return pass(delivery.created_at, facts);
  if (message.completed_at === null) return { verdict: "wait", says: `${says(step)}, which is not known yet`, facts };
  return { verdict: "stop", says: `${says(step)}, and that was not so, or went to another address of theirs`, facts };
};

const says = ({ channel, if: condition, after_minutes: minutes }: FallbackStep): string =>
  `it goes over ${channel} only if what was sent before is ${condition.replaceAll("_", " ")} after ${minutes} minutes`;

/** What the provider made of it, or why it was not handed to one. */
const send = ({ message, delivery }: Seen): Found => {
  if (delivery === null)
    return message.completed_at === null
      ? { verdict: "wait", says: "it is not sent to them yet", facts: { status: message.status } }
      : { verdict: "unknown", says: "nothing that is stored says why", facts: { status: message.status } };
  const { status, provider, attempts, uncertain, sent_at: sentAt } = delivery;
  const facts = { status, provider: provider ?? null, attempts, uncertain: uncertain === true, ...refusalOf(delivery) };
  if (status === "scheduled") return waitsFor(delivery, facts);
  if (status === "expired")
    return { verdict: "stop", says: "its ttl passed before it could be sent", facts, at: delivery.expired_at ?? null };
  if (status === "suppressed")
    return {
      verdict: "stop",
      says: `it was left out: ${delivery.suppression_reason ?? ""}`,
      facts,
      at: delivery.created_at,
    };
  if (status === "failed" || status === "errored")
    return {
      verdict: "stop",
      says: `the provider refused it: ${refusedAs(delivery)}`,
      facts,
      at: delivery.failed_at ?? null,
    };
  return pass(sentAt ?? null, facts);
};

/** For their hour, the end of their quiet hours or their place under a throttle; or another try of one that failed for now. */
const waitsFor = (
  { scheduled_for: at, resend_until: until }: NonNullable<Seen["delivery"]>,
  facts: Record<string, unknown>,
): Found => ({
  verdict: "wait",
  says: `it is to be sent ${until === undefined ? "" : "again "}at ${at?.toISOString() ?? "a later instant"}`,
  facts: { ...facts, scheduled_for: at ?? null },
});

const refusalOf = (row: NonNullable<Seen["delivery"]>): Record<string, unknown> =>
  row.error_code === undefined
    ? {}
    : {
        error_code: row.error_code,
        error_message: row.error_message ?? null,
        provider_code: row.provider_code ?? null,
      };

const refusedAs = ({ error_code: code, provider_code: own }: NonNullable<Seen["delivery"]>): string =>
  own === undefined ? (code ?? "") : `${code ?? ""} (${own})`;

/** What was reported of it afterwards: nothing has to be. */
const receipt = ({ delivery }: Seen): Found | null => {
  if (delivery === null) return null;
  const { delivered_at: deliveredAt, bounced_at: bouncedAt, complained_at, unsubscribed_at } = delivery;
  const facts = {
    delivered_at: deliveredAt ?? null,
    complained_at: complained_at ?? null,
    unsubscribed_at: unsubscribed_at ?? null,
  };
  if (bouncedAt !== undefined)
    return {
      verdict: "stop",
      says: `it bounced: ${refusedAs(delivery)}`,
      facts: { ...facts, bounce_type: delivery.bounce_type ?? null, ...refusalOf(delivery) },
      at: bouncedAt,
    };
  return deliveredAt === undefined ? { verdict: "unknown", facts } : pass(deliveredAt, facts);
};

const seenAt =
  (member: "opened_at" | "clicked_at", factsOf: (row: NonNullable<Seen["delivery"]>) => Record<string, unknown>) =>
  ({ delivery }: Seen): Found | null => {
    const at = delivery?.[member];
    return delivery === null || at === undefined ? null : pass(at, factsOf(delivery));
  };

const variantIn = ({ message, delivery, person }: Seen): Record<string, unknown> => {
  const { _id, variants = [] } = message;
  const found = person === null ? null : variantOf(_id, variants, person._id);
  return { variant_id: delivery?.variant_id ?? found?.id ?? null, name: found?.name ?? null };
};

const mostShown = 20;

/** The messages that had filled the cap, the latest first: those of them that are still counted. */
const filledBy = ({ delivery, message, counted }: Seen): Found => {
  const before = counted.filter(({ at, message_id: id }) => id !== message._id && at <= (delivery?.created_at ?? at));
  const messages = before
    .toSorted((a, b) => b.at.getTime() - a.at.getTime())
    .slice(0, mostShown)
    .map(({ message_id, channel, at }) => ({ message_id, channel, at }));
  return { verdict: "stop", facts: { counted: messages } };
};

export const acceptedGate: Gate = { gate: "accepted", judge: accepted };

/** What is only known by the delivery that it left, and what became of that. */
export const sendingGates: readonly Gate[] = [
  { gate: "fallback", reasons: { quota: "the quota of messages was used up when it was their turn" }, judge: fallback },
  { gate: "local_time", reasons: { local_time_missed: "its time of day had passed where they are" } },
  { gate: "quiet_hours", reasons: { quiet_hours: "it fell into quiet hours where they are" } },
  {
    gate: "frequency_cap",
    reasons: { frequency_cap: "they have had as many messages as a frequency cap allows" },
    judge: (seen) => (seen.delivery?.suppression_reason === "frequency_cap" ? filledBy(seen) : null),
  },
  {
    gate: "variant",
    reasons: { control_group: "they are of those who get nothing, so that the effect can be measured" },
    judge: (seen) => {
      if (seen.message.variants === undefined) return null;
      const isOut = seen.delivery?.suppression_reason === "control_group";
      return { ...pass(null, variantIn(seen)), ...(isOut && { verdict: "stop" }) };
    },
  },
  { gate: "one_per_user", reasons: { duplicate_user: "another subscription of theirs is chosen for it" } },
  { gate: "superseded", reasons: { superseded: "a newer message of the same collapse id took its place" } },
  {
    gate: "activity",
    reasons: {
      already_started: "the live activity runs on the device already",
      no_update_token: "the device has not told its token of the live activity",
    },
  },
  { gate: "render", reasons: { template_abort: "its template says that they get nothing" } },
  { gate: "send", judge: send },
  { gate: "receipt", judge: receipt },
  { gate: "open", judge: seenAt("opened_at", () => ({})) },
  {
    gate: "click",
    judge: seenAt("clicked_at", (row) => ({ url: row.clicked_url ?? null, button_id: row.clicked_button_id ?? null })),
  },
];
