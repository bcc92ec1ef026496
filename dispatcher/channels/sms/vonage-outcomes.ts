import { vonageErrorSources, vonageErrors } from "#core/channels/sms/vonage-errors.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import { meanings, type OutcomeTable, outcomeOf, rowsOf } from "../kit/outcomes.ts";

/** What Vonage answered. */
export type VonageReply = { status: number; body: string; retryAfter?: string | undefined };

const { setUp, rejected, limited, unavailable } = meanings;

/** Error codes, then statuses with a code that is not documented. */
export const vonageTable: OutcomeTable = {
  sources: [...vonageErrorSources, "https://developer.vonage.com/en/api/messages"],
  rows: [
    ...rowsOf(vonageErrors),
    { on: /^40[13]/, ...setUp },
    { on: /^402/, ...setUp, reason: "the Vonage account has no credit" },
    { on: /^429/, ...limited },
    { on: /^5/, ...unavailable },
  ],
  otherwise: rejected,
  refused: "Vonage refused the message",
};

/** What an answer of Vonage to a message means. Its own words stay out of the reason: they name the number. */
export const vonageOutcome = ({ status, body, retryAfter }: VonageReply, now: Date): Outcome => {
  const { message_uuid: id, type } = parse(body);
  if (status >= 200 && status < 300) return { kind: "sent", providerId: typeof id === "string" ? id : null };
  const word = typeof type === "string" ? (/([\w-]{1,40})$/.exec(type)?.[1] ?? "") : "";
  return outcomeOf(vonageTable, { code: word || String(status), whole: String(status), word, retryAfter }, now);
};

const parse = (body: string): { message_uuid?: unknown; type?: unknown } => {
  try {
    return Object(JSON.parse(body)) as { message_uuid?: unknown; type?: unknown }; // members are checked by the caller
  } catch {
    return {};
  }
};
