import type { Outcome } from "#core/domain/messages/outcome.ts";
import { type Meaning, meanings, type OutcomeTable, outcomeOf } from "../kit/outcomes.ts";

/** What Push Kit answered. */
export type HmsReply = { status: number; body: string; retryAfter?: string | undefined };

const { tokenInvalid, setUp, rejected, tooLarge, limited, unavailable } = meanings;
const notOfAll: Meaning = { kind: "config_error", code: "PROVIDER_AUTH" };

const [sent, sentToSome] = ["80000000", "80100000"];

/** Every documented code, then statuses with a code that is not documented. */
export const hmsTable: OutcomeTable = {
  sources: [
    "https://developer.huawei.com/consumer/en/doc/development/HMSCore-References/https-send-api-0000001050986197", // "Response Codes"
    "https://developer.huawei.com/consumer/en/doc/HMSCore-References-V5/https-send-api-0000001050986197-V5", // 80100002, 80300011
    "https://developer.huawei.com/consumer/cn/doc/development/HMSCore-Guides/commonerror-0000001059816656", // 80100016
  ],
  rows: [
    { on: sentToSome, ...tokenInvalid }, // of the tokens that it names
    { on: "80100001", ...rejected }, // a parameter
    { on: "80100002", ...rejected },
    { on: "80100003", ...rejected }, // the structure
    { on: "80100004", ...rejected }, // ttl
    { on: "80100013", ...rejected }, // collapse_key
    { on: "80100016", kind: "payload_error", code: "CONTENT_BLOCKED", reason: "Push Kit found sensitive words" },
    { on: "80100017", ...limited }, // of topics
    { on: "80200001", ...setUp }, // after a new access token was tried
    { on: "80200003", ...setUp },
    { on: "80300002", ...notOfAll }, // the app has no permission, or none for the region or app of these tokens
    { on: "80300007", ...tokenInvalid },
    { on: "80300008", ...tooLarge },
    { on: "80300010", ...rejected }, // too many tokens
    { on: "80300011", ...notOfAll, reason: "Push Kit does not let the app send with high priority" },
    { on: "80300013", ...notOfAll, reason: "Push Kit refuses the address that is set for receipts" },
    { on: "80600003", ...setUp }, // client id or secret
    { on: "81000001", ...unavailable },
    { on: /^40[14]/, ...setUp },
    { on: /^413/, ...tooLarge },
    { on: /^(?:429|503)/, ...limited }, // 503: "Traffic control"
    { on: /^5/, ...unavailable },
  ],
  otherwise: rejected,
  refused: "Push Kit refused the push",
};

/**
 * What an answer to a request means for each of its tokens. Push Kit's own words stay out of the reason: they may name
 * tokens.
 */
export const hmsOutcomes = ({ status, body, retryAfter }: HmsReply, now: Date): ((token: string) => Outcome) => {
  const { code, msg, requestId } = parse(body);
  const accepted: Outcome = { kind: "sent", providerId: requestId || null };
  if (code === sent) return () => accepted;
  const refused = outcomeOf(hmsTable, { code: `${status} ${code}`.trim(), word: code, retryAfter }, now);
  if (code !== sentToSome) return () => refused;
  const illegal = illegalTokens(msg);
  if (illegal === null) return () => unnamed;
  return (token) => (illegal.has(token) ? refused : accepted);
};

const unnamed: Outcome = { kind: "uncertain", reason: "Push Kit did not say which of the tokens it refused" };

/** The tokens that the message was not sent to: `msg` is JSON within JSON. Null when it does not name them. */
const illegalTokens = (msg: string): ReadonlySet<unknown> | null => {
  const { illegal_tokens: tokens } = objectOf(msg);
  return Array.isArray(tokens) && tokens.length > 0 ? new Set(tokens) : null;
};

const parse = (body: string): Record<"code" | "msg" | "requestId", string> => {
  const { code, msg, requestId } = objectOf(body);
  return { code: textOf(code).slice(0, 20), msg: textOf(msg), requestId: textOf(requestId).slice(0, 100) };
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

const objectOf = (text: string): Record<string, unknown> => {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>; // members are checked by the callers
  } catch {
    return {};
  }
};
