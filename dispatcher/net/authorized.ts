import type { Clock } from "#core/domain/clock.ts";
import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { AccessTokens, Granted } from "./oauth.ts";
import { notAnswered, type Transport, type TransportRequest, type TransportResult } from "./transport.ts";

export type AuthorizedDeps = {
  transport: Transport;
  tokens: AccessTokens;
  /** Whether an answer means that the access token is not valid any more. */
  isRefused: (answer: Answer) => boolean;
  /** For one post with its access token, both tries together. */
  timeoutMs: number;
  clock: Clock;
};

export type Answer = Extract<TransportResult, { kind: "answer" }>;

/**
 * Posts JSON with an access token (RFC 6750), and once more with another when the provider refuses the first. Gives the
 * answer, or what it means that there is none.
 */
export const authorized = ({ transport, tokens, isRefused, timeoutMs, clock }: AuthorizedDeps) => {
  const attempt = async (post: Post, endsAtMs: number): Promise<Answer | Outcome> => {
    const granted = tokens.known() ?? (await inTime(tokens.current(), endsAtMs, clock));
    if (granted.kind !== "token") return granted;
    const headers = { authorization: `Bearer ${granted.value}`, "content-type": "application/json" };
    const result = await transport.request({ ...post, headers, timeoutMs: endsAtMs - performance.now() });
    if (result.kind !== "answer") return notAnswered(result, clock.now());
    if (isRefused(result)) tokens.refused(granted.value);
    return result;
  };
  return async (post: Post): Promise<Answer | Outcome> => {
    const endsAtMs = performance.now() + timeoutMs;
    const first = await attempt(post, endsAtMs);
    return first.kind === "answer" && isRefused(first) ? attempt(post, endsAtMs) : first;
  };
};

type Post = Pick<TransportRequest, "path" | "body" | "signal" | "isOver">;

/** An access token, or that there was none in time: nothing was sent, so that it may be tried again. */
const inTime = async (
  asked: Promise<Granted | Outcome>,
  endsAtMs: number,
  clock: Clock,
): Promise<Granted | Outcome> => {
  const { promise: late, resolve } = Promise.withResolvers<Outcome>();
  const giveUp = (): void => resolve(notAnswered({ kind: "not_sent", reason: "no access token in time" }, clock.now()));
  const timer = setTimeout(giveUp, Math.max(0, endsAtMs - performance.now()));
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
};
