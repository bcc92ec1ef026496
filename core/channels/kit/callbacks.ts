import { hash, timingSafeEqual } from "node:crypto";
import type { Receipt } from "../../domain/messages/receipts.ts";
import type { Authorities } from "./authorities.ts";
import type { Inbound } from "./inbound.ts";

/** A request of a provider to `/ingress/{provider}/{appId}/{part}`, as it came. Source: docs/reference/callbacks.md. */
export type CallbackRequest = {
  method: "GET" | "POST";
  /** What its path names behind the app: `""`, `"status"`, `"d/dlv_…"`. Not decoded. */
  part: string;
  /** The address that the provider called, with its query, as it was given it: some signatures cover it. */
  url: string;
  /** The value of a header by its name in lower case; null without it. */
  header: (name: string) => string | null;
  /** Of at most {@link maxCallbackBytes}. */
  body: Buffer;
};

/** A request as it waits in the queue. */
export type Callback = Pick<CallbackRequest, "part" | "url" | "body"> & {
  /** Its `Content-Type`, in lower case and without parameters; "" without one. */
  contentType: string;
  receivedAt: Date;
  /** The file that its body is in, as it is too large for the queue: `body` is empty until it is read. */
  file?: string;
  /** That nobody has seen the signature yet: whoever takes it from the queue fetches the certificate first. */
  isUnchecked?: true;
};

/** What a request is verified with. `Account` has the members of the open account that the definition reads. */
export type Verifying<Account> = {
  account: Account;
  now: Date;
};

export type CallbackReply = { status?: number; contentType: string; text: string };

/**
 * A signature of something else than the body, and until when it is good. No other body may come with it, to whichever app:
 * several may have the same key.
 */
export type Once = { signature: string; until: Date };

/**
 * What becomes of a request.
 * - `refused`: forged, altered or too old (403).
 * - `unknown`: the provider has no such part or method (404).
 * - `queued`: it waits to be read, then gets its reply.
 * - `answered`: gets its reply, and there is nothing to read in it: a handshake.
 */
export type Verdict =
  | { kind: "refused" }
  | { kind: "unknown" }
  | { kind: "queued"; reply: CallbackReply; once?: Once }
  | { kind: "answered"; reply: CallbackReply };

/** How the signature is checked of a provider that signs with a certificate of its own. */
export type Certified = {
  /** The https address of the certificate, which is the provider's own; null for what it cannot have signed. */
  addressOf: (body: Buffer) => string | null;
  /**
   * What is wrong with the certificate (PEM) from there, or with the signature; null when the provider signed it. The same
   * object of authorities is to be given each time: what was judged by them is remembered with it.
   */
  problemOf: (body: Buffer, by: { pem: string; trusted: Authorities }) => CertifiedProblem | null;
};

export type CertifiedProblem = { of: "certificate" | "signature"; reason: string };

/**
 * The callbacks of one provider: pure functions. `verify` is called by the apiserver before anything is kept, `read` by a
 * dispatcher afterwards, perhaps more than once for the same callback.
 */
export type CallbackDefinition<Account> = {
  /** With this `verify` judges all but the signature: nothing may be done before that is checked, too. */
  certified?: Certified | null;
  /** Compares secrets in constant time ({@link isSame}). Never throws: what cannot be parsed is refused. */
  verify: (request: CallbackRequest, verifying: Verifying<Account>) => Verdict;
  /** All that is in it, at most {@link maxCallbackItems}; what is not understood is left out. @throws UnreadableCallback */
  read: (callback: Callback) => CallbackContent;
  /** The mail of a person in the body of a request to {@link mailPart}, as MIME; null where there is none. */
  mail?: (body: Buffer) => Buffer | null;
};

/** The part of a provider's address that mails of people come to, and what it may begin with besides. */
export const mailPart = "inbound";

/** A body of this size at most is taken: the largest that a provider documents are Meta's 3 MB. */
export const maxCallbackBytes = 3 * 1024 * 1024;
/** Receipts, and inbound messages, of one callback that are read. */
export const maxCallbackItems = 10_000;

/** A verified callback that is not what its provider documents: reading it again would not help. */
export class UnreadableCallback extends Error {}

export type CallbackContent = {
  receipts: Receipt[];
  inbound: Inbound[];
  /** An https address of the provider's that wants to be fetched once, to confirm that its callbacks are wanted. */
  confirm?: string;
};

/** Nothing but that it was taken. */
export const accepted = { kind: "queued", reply: { contentType: "text/plain", text: "" } } as const satisfies Verdict;
export const refused: Verdict = { kind: "refused" };
export const unknown: Verdict = { kind: "unknown" };

/** Compares what was given with what it has to be, in a time that does not tell how much of it is right. */
export const isSame = (given: string | Buffer, wanted: string | Buffer): boolean =>
  timingSafeEqual(digestOf(given), digestOf(wanted)); // digests have one length

const digestOf = (value: string | Buffer): Buffer => hash("sha256", value, "buffer");

/** Whether an instant lies at most `maxMs` before or after now. */
export const isFresh = (at: Date, now: Date, maxMs: number): boolean => Math.abs(now.getTime() - at.getTime()) <= maxMs; // false for what is no instant
