import { type OpenAccount, openAccount } from "#core/channels/accounts.ts";
import type { ProviderCallbacks } from "#core/channels/callbacks.ts";
import { mailBounds, mailProblem } from "#core/channels/email/mail-bounds.ts";
import type { Authorities } from "#core/channels/kit/authorities.ts";
import {
  type Callback,
  type CallbackRequest,
  mailPart,
  maxCallbackBytes,
  type Once,
  refused,
  type Verdict,
} from "#core/channels/kit/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import { AppError, Unavailable } from "#core/errors.ts";
import type { CallbackOf } from "#core/queue/callbacks.ts";
import { type KeyRing, openShared, type Sealed } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { CallbackToken } from "#core/storage/service/callback-tokens.ts";
import { nowhere, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import type { FloodLimits } from "./flood-limits.ts";

export type ReceiveDeps = {
  callbacks: Readonly<Record<string, ProviderCallbacks | undefined>>;
  app: (id: string) => Promise<AppRow | null>;
  unseal: KeyRing["open"];
  /** A provider's certificate (PEM), by its address; null as long as nobody has fetched it. */
  certificate: (url: string) => Promise<string | null>;
  /** Who vouches for such certificates. */
  trusted: () => Authorities;
  limits: FloodLimits;
  /** Whether a request is the first that came with its signature, or the same again. */
  isFirst: (token: CallbackToken) => Promise<boolean>;
  /** Stores a request until it is read: what is too large for the queue in a file. */
  keep: (of: CallbackOf, callback: Callback, signal: AbortSignal) => Promise<void>;
  /** The service's own address, as providers know it. */
  publicUrl: string;
  count: (labels: { provider: string; outcome: Outcome }) => void;
  log: Log;
  clock: Clock;
};

/**
 * Answers a provider: what it signed waits in the queue before it is answered. Whoever cannot sign learns nothing: a
 * provider, app, part or method that is not known is 404, and so is an app without an account; all else is 403. What is
 * signed with a certificate that nobody has fetched yet waits unchecked, in small numbers, until a dispatcher has it.
 */
export const receive = (deps: ReceiveDeps) => {
  const inTurn = fewAtOnce();
  return (request: OutsideRequest): Promise<OutsideReply> =>
    isLarge(request) ? inTurn(() => answer(deps, request)) : answer(deps, request);
};

/** A body that may be larger than any but a mail; one that does not say how long it is may be. */
const isLarge = ({ method, parts: [, , part], header }: OutsideRequest): boolean =>
  method === "POST" && part === mailPart && !(Number(header("content-length") ?? Infinity) <= maxCallbackBytes);

const mostLarge = 4; // of 11 MiB, while the program has some 300 MiB

/** Lets few in at a time, and tells the others to come again: providers do. @throws Unavailable */
const fewAtOnce = () => {
  let inside = 0;
  return async (work: () => Promise<OutsideReply>): Promise<OutsideReply> => {
    if (inside >= mostLarge) throw new Unavailable("room for another large mail");
    inside++;
    try {
      return await work();
    } finally {
      inside--;
    }
  };
};

const answer = async (deps: ReceiveDeps, request: OutsideRequest): Promise<OutsideReply> => {
  const { limits } = deps;
  const [provider = "", appId = "", ...rest] = request.parts;
  const sender = `${provider} ${appId}`;
  const refuse = (to: string | null, error: AppError): never => {
    const limited = limits.refused(request.ip, to);
    if (limited === null && to !== null) deps.log.warn({ provider, app: appId }, "callback.refused");
    throw limited ?? error;
  };
  limits.admit(request.ip, sender);
  const { method } = request;
  const found = Object.hasOwn(deps.callbacks, provider) ? deps.callbacks[provider] : undefined;
  const app = found === undefined ? null : await deps.app(appId);
  if (found === undefined || app === null || (method !== "GET" && method !== "POST")) return refuse(null, nowhere());
  const part = rest.join("/");
  const isMail = found.mail !== null && rest[0] === mailPart;
  const read = await calledOf(deps, request, isMail ? mostMailBytes : maxCallbackBytes).catch((error: unknown) => {
    limits.refused(request.ip, sender); // as what is not signed: nobody knows whose it was
    throw error;
  });
  const called = { ...read, method, part } as const;
  const { verdict, outcome } = await verify(deps, { found, provider, app }, called);
  deps.count({ provider, outcome });
  if (verdict.kind === "unknown") return refuse(sender, nowhere());
  if (verdict.kind === "refused") return refuse(sender, forbidden());
  if (outcome === "unchecked" || outcome === "unvouched") limits.unchecked(request.ip, sender);
  else limits.verified(sender);
  if (outcome === "unvouched") throw new Unavailable("an authority for the provider's certificate"); // it comes again
  if (isMail) requireBounds(found.mail?.(called.body) ?? null);
  if (verdict.kind === "queued")
    await keep(deps, { app, provider, called, isUnchecked: outcome === "unchecked" }, request);
  const { status = 200, contentType, text } = verdict.reply;
  return { status, headers: { "Content-Type": contentType }, body: text };
};

const forbidden = () => new AppError("HS_FORBIDDEN", "the request is not the provider's");

const calledOf = async ({ publicUrl }: ReceiveDeps, request: OutsideRequest, mostBytes: number) => ({
  url: publicUrl.replace(/\/+$/, "") + request.target,
  header: request.header,
  body: request.method === "GET" ? Buffer.alloc(0) : await request.body(mostBytes),
});

/** A mail in a form, with the other members of that. */
const mostMailBytes = mailBounds.bytes + 1_048_576;

/** @throws AppError HS_PAYLOAD_TOO_LARGE for a mail that nobody would read */
const requireBounds = (mail: Buffer | null): void => {
  const problem = mail === null ? null : mailProblem(mail);
  if (problem === null) return;
  const { what, limit } = problem;
  const details = what === "bytes" ? { limit_bytes: limit } : { limit: what, most: limit };
  throw new AppError("HS_PAYLOAD_TOO_LARGE", `the mail is too large: ${words[what]}`, details);
};

const words = { bytes: "all of it", head: "its head", parts: "it has too many parts" } as const;

/** `unvouched`: the provider's certificate is none that this process trusts. */
type Outcome = Verdict["kind"] | "unchecked" | "unvouched";

type CallbackSource = { found: ProviderCallbacks; provider: string; app: AppRow };

const verify = async (
  deps: ReceiveDeps,
  asked: CallbackSource,
  called: CallbackRequest,
): Promise<{ verdict: Verdict; outcome: Outcome }> => {
  const open = (sealed: Sealed, context: string): string => openShared(deps.unseal, sealed, context, "the account");
  const verdict = asked.found.verify(called, {
    open: <C extends Channel>(channel: C): OpenAccount<C> | null => openAccount(asked.app, channel, open),
    now: deps.clock.now(),
  });
  const outcome = verdict.kind === "queued" ? await verifyRest(deps, asked, called, verdict.once) : verdict.kind;
  return { verdict: outcome === "refused" ? refused : verdict, outcome };
};

/** What the request alone does not tell: whether its signature came before with another body, or is a certificate's. */
const verifyRest = async (
  deps: ReceiveDeps,
  { found: { certified }, provider, app }: CallbackSource,
  { body }: CallbackRequest,
  once: Once | undefined,
): Promise<"queued" | "unchecked" | "unvouched" | "refused"> => {
  const of = ofApp(app);
  if (once !== undefined && !(await deps.isFirst({ of, provider, body, ...once }))) return "refused";
  if (certified === null) return "queued";
  const url = certified.addressOf(body);
  if (url === null) return "refused";
  const pem = await deps.certificate(url);
  if (pem === null) return "unchecked";
  switch (certified.problemOf(body, { pem, trusted: deps.trusted() })?.of) {
    case undefined:
      return "queued";
    case "signature":
      return "refused";
    case "certificate":
      return "unvouched";
  }
};

type Taken = { app: AppRow; provider: string; called: CallbackRequest; isUnchecked: boolean };

const keep = (
  { keep: store, clock }: ReceiveDeps,
  { app, provider, called, isUnchecked }: Taken,
  request: OutsideRequest,
) =>
  store(
    { ...ofApp(app), provider },
    {
      part: called.part,
      url: called.url,
      body: called.body,
      contentType: contentTypeOf(request),
      receivedAt: clock.now(),
      ...(isUnchecked && { isUnchecked }),
    },
    request.signal,
  );

/** In lower case and without parameters. */
const contentTypeOf = ({ header }: OutsideRequest): string =>
  (header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
