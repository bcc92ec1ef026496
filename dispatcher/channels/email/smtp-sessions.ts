import type { Readable } from "node:stream";
import type { SMTPEnvelope } from "nodemailer/lib/smtp-connection";
import { NotBegun } from "#core/domain/messages/outcome.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import type { SmtpSession } from "./smtp-session.ts";

/** What became of one message. */
export type Handing = { kind: "accepted"; response: string } | { kind: "failed"; error: unknown; reached: Reached };

/**
 * How far a message came that failed:
 * - `nothing`: no session, or no answer to MAIL FROM. Every message would have come to this.
 * - `recipient`: MAIL FROM was answered, and nothing of the message was asked for.
 * - `message`: some of it may have gone out.
 * - `end`: all of it had gone out, so a server that fell silent may have taken it.
 */
export type Reached = "nothing" | "recipient" | "message" | "end";

/** See `Provider.send`. */
export type Leave = { signal: AbortSignal; isOver: () => boolean };

export type SmtpSessions = {
  /**
   * Hands one message to the server, over an idle session if there is one. Rejects only with `NotBegun`: not all of it
   * had gone out when `signal` aborted, or `isOver` said so before the session began with it.
   */
  hand: (envelope: SMTPEnvelope, message: () => Readable, leave: Leave) => Promise<Handing>;
  close: () => void;
};

/** Opens a session with the server of an account. */
export type OpenSession = (limit: AbortSignal) => Promise<SmtpSession>;

export type SmtpLimits = { sessions: number; timeoutMs: number };

const messagesPerSession = 100; // servers end sessions that go on without end
const idleMs = 30_000;

type Idle = { session: SmtpSession; messages: number; timer: NodeJS.Timeout };

/** The sessions with one account's server. Unlike nodemailer's pool it knows whether a lost message had been handed over. */
export const smtpSessions = (open: OpenSession, { sessions, timeoutMs }: SmtpLimits): SmtpSessions => {
  const places = semaphore(sessions);
  const idle = new Set<Idle>();

  const take = (): Idle | undefined => {
    for (const kept of idle) {
      release(kept);
      if (kept.session.isOpen()) return kept;
    }
    return undefined;
  };
  const release = (kept: Idle): void => {
    clearTimeout(kept.timer);
    idle.delete(kept);
  };
  const drop = (kept: Idle): void => {
    release(kept);
    kept.session.quit();
  };
  const keep = (session: SmtpSession, messages: number): void => {
    if (messages >= messagesPerSession) return session.quit();
    const kept: Idle = { session, messages, timer: setTimeout(() => drop(kept), idleMs).unref() };
    idle.add(kept);
  };
  const over = async (kept: Idle | undefined, letter: Letter, limit: AbortSignal): Promise<Handing> => {
    const { envelope, message, isOver } = letter;
    const messages = (kept?.messages ?? 0) + 1;
    let session = kept?.session;
    try {
      session ??= await open(limit);
      if (isOver()) throw new NotBegun();
      const response = await session.hand(envelope, message, limit);
      keep(session, messages);
      return { kind: "accepted", response };
    } catch (error) {
      if (session !== undefined && (await isReusable(session, error, limit))) keep(session, messages);
      else session?.close();
      return { kind: "failed", error, reached: reachedBy(session, message) };
    } finally {
      message.destroy();
    }
  };
  const hand: SmtpSessions["hand"] = async (envelope, message, { signal, isOver }) => {
    if (signal.aborted || isOver()) throw new NotBegun(); // while it waited for its place
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    const kept = take();
    const letter = { envelope, message: message(), isOver };
    const first = await over(kept, letter, limit);
    const wasStale =
      kept !== undefined && first.kind === "failed" && !letter.message.readableDidRead && isLinkError(first.error);
    const last = wasStale ? await over(undefined, { envelope, message: message(), isOver }, limit) : first;
    return begun(last, signal);
  };
  return {
    hand: (envelope, message, leave) => places.run(() => hand(envelope, message, leave)),
    close: () => {
      for (const kept of idle) drop(kept);
    },
  };
};

/** Logs in over a session of its own, and sends nothing. Nobody reads the response. */
export const logIn = async (open: OpenSession, limit: AbortSignal): Promise<Handing> => {
  try {
    const session = await open(limit);
    await session.reset(limit).finally(session.quit); // who may not go on is told so by now
    return { kind: "accepted", response: "" };
  } catch (error) {
    return { kind: "failed", error, reached: "nothing" };
  }
};

const reachedBy = (session: SmtpSession | undefined, message: Readable): Reached => {
  if (message.readableEnded) return "end";
  if (message.readableDidRead) return "message";
  return session?.hasAnswered() === true ? "recipient" : "nothing";
};

type Letter = { envelope: SMTPEnvelope; message: Readable; isOver: () => boolean };

/** Throws when it was given up before all of it had gone out: the server has not taken it. */
const begun = (end: Handing, { aborted }: AbortSignal): Handing => {
  const isGivenUp = end.kind === "failed" && (aborted || end.error instanceof NotBegun);
  if (isGivenUp && end.reached !== "end") throw new NotBegun();
  return end;
};

/** After a refusal of one message the session goes on, unless the server is ending it. */
const isReusable = async (session: SmtpSession, error: unknown, limit: AbortSignal): Promise<boolean> => {
  if (error instanceof NotBegun) return true;
  if (isLinkError(error) || !session.isOpen()) return false;
  return session.reset(limit).then(
    () => true,
    () => false,
  );
};

/** The link broke or the server ended the session (421): nothing was said about the message. */
const isLinkError = (error: unknown): boolean => {
  const { responseCode } = error as { responseCode?: number }; // every error of nodemailer that answers a command has it
  return responseCode === undefined || responseCode === 421;
};
