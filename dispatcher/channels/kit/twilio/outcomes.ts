import { twilioErrorSources, twilioErrors } from "#core/channels/kit/twilio/errors.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import { meanings, type OutcomeTable, outcomeOf, rowsOf } from "../outcomes.ts";

/** What Twilio answered. */
export type TwilioReply = { status: number; body: string; retryAfter?: string | undefined };

const { setUp, rejected, limited, unavailable } = meanings;

/** Error codes, then statuses with a code that is not documented. */
export const twilioTable: OutcomeTable = {
  sources: [...twilioErrorSources, "https://www.twilio.com/docs/usage/twilios-response#response-formats-exceptions"],
  rows: [
    ...rowsOf(twilioErrors),
    { on: /^40[13]/, ...setUp },
    { on: /^404/, ...setUp },
    { on: /^429/, ...limited },
    { on: /^5/, ...unavailable },
  ],
  otherwise: rejected,
  refused: "Twilio refused the message",
};

/** What an answer of Twilio to a new message means. Its own words stay out of the reason: they name the number. */
export const twilioOutcome = ({ status, body, retryAfter }: TwilioReply, now: Date): Outcome => {
  const { sid, code } = membersOf(body);
  if (status >= 200 && status < 300) return { kind: "sent", providerId: typeof sid === "string" ? sid : null };
  const word = typeof code === "number" ? String(code) : "";
  return outcomeOf(twilioTable, { code: word || String(status), whole: String(status), word, retryAfter }, now);
};

export const membersOf = (body: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>; // members are checked by the caller
  } catch {
    return {};
  }
};
