import { maskAddress } from "#core/channels/addresses.ts";
import type { WhyEvidence, WhyGate, WhyRecipient } from "#core/schema/why/why.ts";
import { allGates } from "./gates/all.ts";
import { judgedAt } from "./gates/audience.ts";
import type { Found, Gate, Seen } from "./gates/gate.ts";

/** Why one recipient got a notification, or did not: every gate up to the one that decided. */
export const explain = (seen: Seen): WhyRecipient => {
  const passed: Asked[] = [];
  for (const gate of allGates) {
    const asked = ask(gate, seen);
    if (asked !== null) passed.push(asked);
    if (asked !== null && isEnd(asked, seen)) break;
  }
  const last = passed.at(-1);
  const end = last !== undefined && isEnd(last, seen) ? last : null;
  const { subscription, delivery } = seen;
  const channel = subscription?.channel ?? delivery?.channel ?? null;
  return {
    subscription_id: subscription?._id ?? delivery?.subscription_id ?? null,
    channel,
    address_masked:
      subscription === null
        ? (delivery?.address_masked ?? null)
        : maskAddress(subscription.channel, subscription.token),
    delivery_id: delivery?._id ?? null,
    decided_by: end?.shown.gate ?? null,
    sentence: end === null ? arrived(passed) : `${missed(end)}.`,
    gates: passed.map(({ shown }) => shown),
  };
};

type Asked = { shown: WhyGate; says: string };

/** A delivery that nothing is reported of yet may still have arrived. */
const isEnd = ({ shown: { verdict } }: Asked, { delivery }: Seen): boolean =>
  verdict === "stop" || verdict === "wait" || (verdict === "unknown" && delivery === null);

const ask = (gate: Gate, seen: Seen): Asked | null => {
  const { delivery } = seen;
  const found = gate.judge?.(seen) ?? null;
  const isStored = storedGates.has(gate.gate);
  if (delivery === null || isStored)
    return found && asked(gate, found, isStored ? { evidence: "exact" } : replay(seen, found));
  const reason = delivery.suppression_reason;
  if (reason !== undefined && gateOf(reason, seen) === gate) {
    const facts = { ...(found?.verdict === "stop" && found.facts), reason, said: delivery.error_message ?? null };
    const says = gate.reasons?.[reason] ?? reason;
    return asked(gate, { verdict: "stop", says, facts, at: delivery.created_at }, { evidence: "exact" });
  }
  return (
    found && asked(gate, { verdict: "pass", ...factsOf(gate, found), at: delivery.created_at }, passedBy(gate, seen))
  );
};

/** What they tell was stored as it happened. */
const storedGates: ReadonlySet<string> = new Set(["accepted", "send", "receipt", "open", "click"]);

/** What these tell is read again, also where a delivery proves that it was passed. */
const readAgain: ReadonlySet<string> = new Set(["segment", "filter", "excluded"]);

const passedBy = (gate: Gate, seen: Seen): Evidence =>
  readAgain.has(gate.gate) ? replay(seen) : { evidence: "exact" };

const factsOf = ({ gate }: Gate, { facts = {} }: Found): Pick<Found, "facts"> =>
  gate === "targeted" || gate === "variant" || readAgain.has(gate) ? { facts } : {};

/** The gate that gives a suppression reason, the first of several unless a recipient is known; `send` tells of one that none gives. */
export const gateOf = (reason: string, seen?: Seen): Gate | undefined =>
  allGates.find(
    ({ reasons = {}, isOne }) => Object.hasOwn(reasons, reason) && (seen === undefined || (isOne?.(seen) ?? true)),
  );

type Evidence = { evidence: WhyEvidence; changed?: string[] };

/** What is asked again now was the same then, unless something has changed since the audience was read. */
const replay = ({ message, person, subscription }: Seen, found?: Found): Evidence => {
  const then = message.started_at ?? judgedAt(message);
  const since = found?.facts?.["since"];
  const changed = [
    ...(person !== null && person.updated_at > then ? ["user"] : []),
    ...(subscription !== null && subscription.updated_at > then ? ["subscription"] : []),
    ...(since instanceof Date && since > then ? ["suppression"] : []),
  ];
  return changed.length === 0 ? { evidence: "replayed" } : { evidence: "changed_since", changed };
};

const asked = (
  { gate }: Gate,
  { verdict, at, facts = {}, says = "" }: Found,
  { evidence, changed }: Evidence,
): Asked => ({
  shown: {
    gate,
    verdict,
    at: at?.toISOString() ?? null,
    facts: { ...(JSON.parse(JSON.stringify(facts)) as object), ...(changed && { changed }) }, // instants as texts
    evidence,
  },
  says,
});

const missed = ({ shown: { verdict }, says }: Asked): string =>
  verdict === "wait" ? `It is not decided yet: ${says}` : `It did not arrive: ${says}`;

const arrived = (passed: readonly Asked[]): string => {
  const at = (gate: string): string | null =>
    passed.find(({ shown }) => shown.gate === gate && shown.verdict === "pass")?.shown.at ?? null;
  const [click, open, receipt] = [at("click"), at("open"), at("receipt")];
  if (click !== null) return `It arrived, and they clicked it at ${click}.`;
  if (open !== null) return `It arrived, and they opened it at ${open}.`;
  if (receipt !== null) return `It arrived at ${receipt}.`;
  return `It was sent at ${at("send") ?? "an unknown instant"}, and nothing says yet whether it arrived.`;
};
