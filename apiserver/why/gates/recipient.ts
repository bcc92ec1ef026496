import { mayReachUnsubscribed, whySkipped } from "#core/channels/content.ts";
import { recipientGates } from "#core/channels/gates.ts";
import { fallbackOf } from "#core/domain/messages/fallback.ts";
import { type SuppressionReason, suppressionReasons } from "#core/schema/suppressions/suppression.ts";
import { holding } from "#core/storage/suppressions/find-suppressed.ts";
import type { Found, Gate, Seen } from "./gate.ts";

const pass = (facts: Record<string, unknown> = {}): Found => ({ verdict: "pass", facts });

const channel = ({ message, subscription, configured }: Seen): Found => {
  if (subscription === null) return { verdict: "stop", says: "they have no subscription", facts: { subscriptions: 0 } };
  const { channel: on } = subscription;
  if (message.channels.includes(on)) return pass({ channel: on });
  const isLater = fallbackOf(message.options).some((step) => step.channel === on);
  if (isLater && configured.has(on)) return pass({ channel: on, is_fallback: true });
  const skipped = whySkipped(on, message.content);
  const reason = !configured.has(on) ? "not_configured" : (skipped ?? "not_named");
  return {
    verdict: "stop",
    says: `it does not go over ${on}: ${channelReasons[reason]}`,
    facts: { channel: on, reason },
  };
};

const channelReasons = {
  not_configured: "the app has no account for it",
  no_content: "it says nothing there",
  not_named: "its target does not name it",
} as const;

const subscriptionReasons = {
  unsubscribed: "the subscription is unsubscribed",
  invalid_subscription: "the provider says that the address is gone",
} as const;

const sessionReasons = {
  session_closed: "they have not written on WhatsApp for a day, and it takes no template",
} as const;
const deviceReasons = { not_test_device: "it is for test devices, and this is none" } as const;

/** By the function that the dispatcher asks right before a send. */
const byGate =
  <Reason extends string>(
    decide: (message: Seen["message"], to: NonNullable<Seen["subscription"]>, now: Date) => Reason | null,
    reasons: Readonly<Record<Reason, string>>,
    factsOf: (to: NonNullable<Seen["subscription"]>) => Record<string, unknown>,
  ) =>
  ({ message, subscription, now }: Seen): Found | null => {
    if (subscription === null) return null;
    const reason = decide(message, subscription, now);
    const facts = factsOf(subscription);
    if (reason === null) return pass(facts);
    return { verdict: "stop", says: reasons[reason], facts: { ...facts, reason }, at: subscription.unsubscribed_at };
  };

/** What an entry of the suppression list says, in words. */
const listReasons: Record<SuppressionReason, string> = {
  hard_bounce: "mail to the address bounced for good",
  complaint: "they reported a message as unwanted",
  unsubscribe: "they unsubscribed",
  carrier_opt_out: "they opted out at the carrier",
  invalid_address: "the address is none",
  soft_bounce: "mail to the address bounced again and again",
  legal: "the law forbids it",
  manual: "somebody put them on the suppression list",
};

const listed = Object.fromEntries(suppressionReasons.map((one) => [`suppression_${one}`, listReasons[one]]));

/** The entry that holds it back now. */
const entryOf = ({
  message: { category, options },
  subscription,
  entries,
}: Seen): Seen["entries"][number] | undefined => {
  const reachesUnsubscribed = subscription !== null && mayReachUnsubscribed(subscription.channel, options);
  return holding(entries, { category, reachesUnsubscribed });
};

const isOfCategory = (seen: Seen): boolean => (entryOf(seen)?.categories ?? null) !== null;

const bySuppressions =
  (isOf: (entry: { categories: string[] | null }) => boolean) =>
  (seen: Seen): Found | null => {
    if (seen.subscription === null) return null;
    const { entries } = seen;
    const found = entryOf(seen);
    if (found === undefined || !isOf(found)) return pass({ entries: entries.filter(isOf).length });
    const { _id: id, reason, categories, source, created_at: since, expires_at } = found;
    const facts = { suppression_id: id, reason, source, since, categories, expires_at };
    return { verdict: "stop", says: listReasons[reason], facts, at: since };
  };

/** What decides about a recipient of the audience. */
export const recipientsGates: readonly Gate[] = [
  { gate: "channel", judge: channel },
  {
    gate: "test_device",
    reasons: deviceReasons,
    judge: (seen) =>
      seen.message.target.test_devices_only === true
        ? byGate(recipientGates.testDevice, deviceReasons, ({ test_device }) => ({ test_device }))(seen)
        : null,
  },
  {
    gate: "subscription",
    reasons: subscriptionReasons,
    judge: byGate(recipientGates.subscription, subscriptionReasons, (to) => ({
      status: to.status,
      status_reason: to.status_reason,
    })),
  },
  {
    gate: "suppression",
    reasons: listed,
    isOne: (seen) => !isOfCategory(seen),
    judge: bySuppressions(({ categories }) => categories === null),
  },
  {
    gate: "category",
    reasons: listed,
    isOne: isOfCategory,
    judge: (seen) =>
      seen.message.category === null ? null : bySuppressions(({ categories }) => categories !== null)(seen),
  },
  {
    gate: "session",
    reasons: sessionReasons,
    judge: (seen) =>
      seen.subscription?.channel === "whatsapp"
        ? byGate(recipientGates.session, sessionReasons, ({ session_expires_at: at }) => ({
            session_expires_at: at ?? null,
          }))(seen)
        : null,
  },
];
