import { metaErrorSources, metaErrors } from "#core/channels/whatsapp/errors.ts";
import { keptMessageId } from "#core/channels/whatsapp/values.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import { meanings, type OutcomeTable, outcomeOf, rowsOf } from "../kit/outcomes.ts";

/** What Meta answered. */
export type MetaReply = { status: number; body: string; retryAfter?: string | undefined };

const { setUp, rejected, tooLarge, limited, unavailable } = meanings;

/** Every documented code, then statuses with a code that is not. Patterns are matched against `<status> <code>`. */
export const metaTable: OutcomeTable = {
  sources: metaErrorSources,
  rows: [
    ...rowsOf(metaErrors),
    { on: / 2\d\d$/, ...setUp, reason: "the access token lacks a permission" }, // 200 to 299
    { on: /^40[13]/, ...setUp },
    { on: /^413/, ...tooLarge },
    { on: /^429/, ...limited },
    { on: /^5/, ...unavailable },
  ],
  otherwise: rejected,
  refused: "Meta refused the message",
  pausesMs: { PROVIDER_RATE_LIMITED: 6_000 }, // of a pair of numbers: one message in 6 s; pauses grow by themselves
};

/** What an answer of Meta to a message means. Its own words stay out of the reason: they may name the number. */
export const metaOutcome = ({ status, body, retryAfter }: MetaReply, now: Date): Outcome => {
  if (status === 200) return { kind: "sent", providerId: messageIdOf(body) };
  const word = codeOf(body);
  return outcomeOf(metaTable, { code: word || String(status), word, whole: `${status} ${word}`, retryAfter }, now);
};

const messageIdOf = (body: string): string | null => {
  const wamid = /"id"\s*:\s*"(wamid\.[^"]{1,500})"/.exec(body)?.[1];
  return wamid === undefined ? null : keptMessageId(wamid);
};

/** Of the Graph API: the object in the path does not exist, or the token may not see it. For messages it is the number. */
const noSuchObject = 33;

/** `""` when there is none. */
const codeOf = (body: string): string => {
  try {
    const { error } = JSON.parse(body) as { error?: Partial<Record<"code" | "error_subcode", unknown>> | null }; // members are checked here
    const code = error?.code === 100 && error.error_subcode === noSuchObject ? noSuchObject : error?.code;
    return typeof code === "number" ? String(code) : "";
  } catch {
    return "";
  }
};
