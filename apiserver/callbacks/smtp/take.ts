import type { Readable } from "node:stream";
import { appIdOf, smtpProvider } from "#core/channels/email/callbacks/smtp.ts";
import { mailBounds, mailProblem } from "#core/channels/email/mail-bounds.ts";
import { type Callback, mailPart } from "#core/channels/kit/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import { AppError, Unavailable } from "#core/errors.ts";
import type { CallbackOf } from "#core/queue/callbacks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import { type SmtpLimits, smtpBounds } from "./limits.ts";

export type TakeDeps = {
  domain: string;
  app: (id: string) => Promise<AppRow | null>;
  /** Whether the app's plan has conversations. */
  isTaking: (of: OfApp) => Promise<boolean>;
  /** Stores a mail until a dispatcher reads it. */
  keep: (of: CallbackOf, callback: Callback, signal: AbortSignal) => Promise<void>;
  limits: SmtpLimits;
  clock: Clock;
};

/** Why a command is refused: a code of SMTP, an enhanced one (RFC 3463) and words. Those of 4 are tried again by the sender. */
export class SmtpRefusal extends Error {
  readonly responseCode: number;
  constructor(responseCode: number, said: string) {
    super(said);
    this.responseCode = responseCode;
  }
}

export type MailSender = { ip: string; signal: AbortSignal };

/** A mail as its dialogue names it: `from` is "" for what a mail server says about mails. */
export type Envelope = { from: string; recipients: readonly string[] };

/** Takes mails for apps: stored before they are answered. */
export const mailTaking = (deps: TakeDeps) => ({
  /** Judges a recipient beside those that a mail has already. @throws SmtpRefusal; Unavailable */
  recipient: async (address: string, { ip }: MailSender, known: number): Promise<void> => {
    if (!deps.limits.mayName(ip)) throw new SmtpRefusal(421, "4.7.0 too many unknown recipients, try again later");
    if (known >= smtpBounds.recipients) throw new SmtpRefusal(452, "4.5.3 too many recipients, send them apart");
    if ((await appOf(deps, address)) !== null) return;
    deps.limits.namedNobody(ip);
    throw nobody();
  },

  /**
   * Stores a mail for each app that it is for; with what a mail server says about mails nothing is done, as nobody could be
   * answered. @throws SmtpRefusal; Unavailable
   */
  mail: async (envelope: Envelope, content: Readable, { ip, signal }: MailSender): Promise<"queued" | "answered"> => {
    const held = await contentOf(content, deps.limits);
    try {
      if (!deps.limits.maySend(ip)) throw new SmtpRefusal(451, "4.7.0 too many mails of this address, try again later");
      const mime = boundedBy(held);
      if (envelope.from === "") return "answered";
      await keepForEach(deps, { envelope, mime }, signal);
      return "queued";
    } finally {
      deps.limits.release(held.bytes);
    }
  },
});

export type MailTaking = ReturnType<typeof mailTaking>;

const nobody = () => new SmtpRefusal(550, "5.1.1 no such recipient here");

/** The app that takes mails at an address. */
const appOf = async ({ domain, app, isTaking }: TakeDeps, address: string): Promise<AppRow | null> => {
  const id = appIdOf(address, domain);
  const found = id === null ? null : await app(id);
  return found?.channels.email !== undefined && (await isTaking(ofApp(found))) ? found : null;
};

const keepForEach = async (
  deps: TakeDeps,
  { envelope, mime }: { envelope: Envelope; mime: Buffer },
  signal: AbortSignal,
): Promise<void> => {
  const apps = new Map<string, AppRow>();
  for (const address of envelope.recipients) {
    const app = await appOf(deps, address);
    if (app !== null) apps.set(app._id, app);
  }
  if (apps.size === 0) throw nobody(); // they went meanwhile
  for (const app of apps.values()) {
    if (!deps.limits.mayReach(app._id))
      throw new SmtpRefusal(451, "4.7.0 too many mails for this app, try again later");
    const callback = {
      part: mailPart,
      url: "",
      body: mime,
      contentType: "message/rfc822",
      receivedAt: deps.clock.now(),
    };
    await deps.keep({ ...ofApp(app), provider: smtpProvider }, callback, signal).catch(asRefusal);
  }
};

/** Without a store of files a large mail finds no room. */
const asRefusal = (error: unknown): never => {
  if (error instanceof AppError && error.code === "HS_PAYLOAD_TOO_LARGE") throw tooLarge();
  throw error;
};

const tooLarge = () => new SmtpRefusal(552, "5.3.4 the mail is too large");

type Held = { chunks: Buffer[]; bytes: number; problem: "too_large" | "no_room" | null };

/** A mail as far as it may be kept in memory. What is beyond that is read and forgotten: the answer comes behind it. */
const contentOf = async (content: Readable, limits: SmtpLimits): Promise<Held> => {
  const held: Held = { chunks: [], bytes: 0, problem: null };
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      if (held.bytes + chunk.length > mailBounds.bytes) held.problem ??= "too_large";
      else if (held.problem === null && !limits.hold(chunk.length)) held.problem = "no_room";
      if (held.problem === null) {
        held.chunks.push(chunk);
        held.bytes += chunk.length;
      } else if (held.bytes > 0) {
        limits.release(held.bytes);
        Object.assign(held, { chunks: [], bytes: 0 });
      }
    }
  } catch (error) {
    limits.release(held.bytes);
    throw new Unavailable("the rest of a mail", { cause: error }); // its connection ended
  }
  return held;
};

/** @throws SmtpRefusal for a mail that nobody would read, or for which there is no room */
const boundedBy = ({ chunks, problem }: Held): Buffer => {
  if (problem === "no_room") throw new SmtpRefusal(452, "4.3.1 no room for another large mail, try again later");
  if (problem === "too_large") throw tooLarge();
  const mime = Buffer.concat(chunks);
  const beyond = mailProblem(mime);
  if (beyond === null) return mime;
  throw beyond.what === "bytes"
    ? tooLarge()
    : new SmtpRefusal(554, `5.6.0 the mail is too large: ${words[beyond.what]}`);
};

const words = { head: "its head", parts: "it has too many parts" } as const;
