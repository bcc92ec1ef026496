import type { Outcome } from "#core/domain/messages/outcome.ts";
import { type Meaning, meanings, type OutcomeTable, outcomeOf } from "../kit/outcomes.ts";

/** What FCM answered. */
export type FcmReply = { status: number; body: string; retryAfter?: string | undefined };

const { tokenInvalid, tokenGone, setUp, rejected, tooLarge, limited, unavailable } = meanings;
const notOfAll: Meaning = { kind: "config_error", code: "PROVIDER_AUTH" };

/**
 * Answers whose words, or the fields that they name, say more than their code; then every documented code of FCM, and
 * the general ones of Google's interfaces that FCM answers with; then statuses with a code that is not documented.
 */
export const fcmTable: OutcomeTable = {
  sources: [
    "https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode",
    "https://firebase.google.com/docs/cloud-messaging/scale-fcm",
    "https://cloud.google.com/tasks/docs/reference/rpc/google.rpc", // google.rpc.Code
  ],
  rows: [
    { on: / (NOT_FOUND|INVALID_ARGUMENT)$/, says: [/not ?registered/i], ...tokenGone },
    { on: / INVALID_ARGUMENT$/, says: [/registration token|invalid ?registration|message\.token/i], ...tokenInvalid },
    { on: / INVALID_ARGUMENT$/, says: [/too (?:big|large)|message ?too ?big/i], ...tooLarge },
    { on: "UNSPECIFIED_ERROR", ...unavailable },
    { on: "INVALID_ARGUMENT", ...rejected },
    { on: "UNREGISTERED", ...tokenGone },
    { on: "SENDER_ID_MISMATCH", kind: "config_error", code: "SENDER_MISMATCH" }, // the token is of another project, or the account is
    { on: "QUOTA_EXCEEDED", ...limited },
    { on: "UNAVAILABLE", ...unavailable },
    { on: "INTERNAL", ...unavailable },
    { on: "THIRD_PARTY_AUTH_ERROR", ...notOfAll }, // of Apple's devices and browsers
    { on: "UNAUTHENTICATED", ...setUp }, // after a new access token was tried
    { on: "PERMISSION_DENIED", ...setUp },
    { on: "NOT_FOUND", ...notOfAll }, // the project: an unregistered token has a code of FCM beside this one
    { on: "RESOURCE_EXHAUSTED", ...limited },
    { on: "DEADLINE_EXCEEDED", ...unavailable },
    { on: /^40[13]/, ...setUp },
    { on: /^404/, ...notOfAll },
    { on: /^413/, ...tooLarge },
    { on: /^429/, ...limited },
    { on: /^5/, ...unavailable },
  ],
  otherwise: rejected,
  refused: "FCM refused the push",
};

/** What an answer of FCM to a push means. Its own words stay out of the reason: they may name the token. */
export const fcmOutcome = ({ status, body, retryAfter }: FcmReply, now: Date): Outcome => {
  if (status === 200) return { kind: "sent", providerId: messageIdOf(body) };
  const { code: word, words: text } = parse(body);
  return outcomeOf(fcmTable, { code: `${status} ${word}`.trim(), word, text, retryAfter }, now);
};

const messageIdOf = (body: string): string | null => /"name"\s*:\s*"[^"]*\/([^"/]{1,200})"/.exec(body)?.[1] ?? null;

type Detail = { errorCode?: unknown; fieldViolations?: { field?: unknown; description?: unknown }[] };
type ErrorBody = { error?: { status?: unknown; message?: unknown; details?: Detail[] } };

/** FCM's own code when there is one, else the general status; and all words that explain it. */
const parse = (body: string): { code: string; words: string } => {
  try {
    const { error = {} } = JSON.parse(body) as ErrorBody; // members are checked here
    const details = Array.isArray(error.details) ? error.details : [];
    const code = details.find(({ errorCode }) => typeof errorCode === "string")?.errorCode ?? error.status;
    const violations = details.flatMap(({ fieldViolations }) => fieldViolations ?? []);
    const words = [error.message, ...violations.flatMap(({ field, description }) => [field, description])];
    return { code: typeof code === "string" ? code.slice(0, 100) : "", words: words.join(" ").slice(0, 2000) };
  } catch {
    return { code: "", words: "" };
  }
};
