import type { Refusals } from "#core/channels/kit/refusals.ts";
import { dayMs } from "#core/domain/durations.ts";
import type { Fault, Outcome, OutcomeKind } from "#core/domain/messages/outcome.ts";
import { retryAfter } from "#core/domain/retry-after.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";

/** What an answer means. `reason` is for people; left out, the table says that the push or mail was refused. */
export type Meaning = {
  kind: Exclude<OutcomeKind, "sent" | "uncertain">;
  code: DeliveryErrorCode;
  reason?: string;
  fault?: Fault;
};

export type Row = Meaning & {
  /** The provider's own word for it, or a pattern of the whole answer: see {@link Answer}. */
  on: string | RegExp;
  /** What the answer's text must be about besides. */
  says?: readonly RegExp[];
};

/** Every documented answer of a provider that is no success. */
export type OutcomeTable = {
  /** The documents that the rows are read from. */
  sources: readonly string[];
  /** The first that fits decides. */
  rows: readonly Row[];
  otherwise: Meaning;
  /** The beginning of the reason in rows that have none of their own. */
  refused: string;
  /** Whole answers that every recipient of the account would get: the fault is the provider's, whatever the row says. */
  toEveryone?: RegExp;
  /** How long a retry waits where the provider names no instant; else 10 s, and a minute for a limit of rates. */
  pausesMs?: Partial<Record<DeliveryErrorCode, number>>;
};

/** What a provider answered, taken apart by the provider's own file. */
export type Answer = {
  /** As people are shown it, e.g. `410 Unregistered`; null when there was no answer but an error. */
  code: string | null;
  /** The provider's own word in it, e.g. `Unregistered`. */
  word?: string;
  /** What patterns are matched against; `code` when left out. */
  whole?: string;
  /** The words of the answer. */
  text?: string;
  /** The value of the header of this name. */
  retryAfter?: string | undefined;
  /** Since when the address has been gone. */
  since?: Date | null;
};

/** What an answer means by the provider's table. */
export const outcomeOf = (table: OutcomeTable, answer: Answer, now: Date): Outcome => {
  const { word, text = "", whole = answer.code ?? "" } = answer;
  const fits = ({ on, says = [] }: Row): boolean =>
    (typeof on === "string" ? on === word : on.test(whole)) && says.every((one) => one.test(text));
  const meaning = table.rows.find(fits) ?? table.otherwise;
  const fault = table.toEveryone?.test(whole) === true ? { fault: "provider" as const } : {};
  return meant({ ...meaning, ...fault }, { table, answer, now });
};

const limitedPauseMs = 60_000; // FCM: "no earlier than 1 minute"
const pauseMs = 10_000; // FCM: "at least 10 seconds"; the pauses between retries of a recipient grow by themselves

type AnswerContext = { table: Pick<OutcomeTable, "refused" | "pausesMs">; answer: Answer; now: Date };

/** The outcome of an answer whose meaning is known. */
export const meant = ({ kind, code, reason, fault }: Meaning, { table, answer, now }: AnswerContext): Outcome => {
  const refusal = {
    code,
    providerCode: answer.code,
    reason: reason ?? `${table.refused}: ${answer.word || answer.code}`,
  };
  const blame = fault === undefined ? {} : { fault };
  switch (kind) {
    case "retry_at": {
      const ownMs = table.pausesMs?.[code] ?? (code === "PROVIDER_RATE_LIMITED" ? limitedPauseMs : pauseMs);
      const at = retryAfter(answer.retryAfter, now, dayMs) ?? new Date(now.getTime() + ownMs);
      return { kind, ...refusal, ...blame, at };
    }
    case "config_error":
      return { kind, ...refusal, ...blame };
    case "token_invalid":
      return { kind, ...refusal, ...(answer.since ? { since: answer.since } : {}) };
    case "opted_out":
    case "payload_error":
      return { kind, ...refusal };
  }
};

/** The rows of a table of error codes. One that is doubtful ends no subscription by itself. */
export const rowsOf = (refusals: Refusals): Row[] =>
  Object.entries(refusals).map(([on, { isDoubtful, ...means }]) => ({
    on,
    ...means,
    ...(isDoubtful && { kind: "payload_error" as const }),
  }));

/** What was found wrong before anything was sent. */
export const refusal = (kind: "token_invalid" | "payload_error", code: DeliveryErrorCode, reason: string): Outcome => ({
  kind,
  code,
  providerCode: null,
  reason,
});

/** The meanings that most tables use. */
export const meanings = {
  tokenInvalid: { kind: "token_invalid", code: "TOKEN_INVALID" },
  tokenGone: { kind: "token_invalid", code: "TOKEN_UNREGISTERED" },
  /** The account's login or set-up is wrong. */
  setUp: { kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" },
  rejected: { kind: "payload_error", code: "PROVIDER_REJECTED" },
  tooLarge: { kind: "payload_error", code: "PAYLOAD_TOO_LARGE" },
  limited: { kind: "retry_at", code: "PROVIDER_RATE_LIMITED" },
  unavailable: { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", fault: "provider" },
} as const satisfies Record<string, Meaning>;
