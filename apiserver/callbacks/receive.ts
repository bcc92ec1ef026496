import { type OpenAccount, openAccount } from "#core/channels/accounts.ts";
import type { ProviderCallbacks } from "#core/channels/callbacks.ts";
import { type CallbackRequest, maxCallbackBytes, type Verdict } from "#core/channels/kit/callbacks.ts";
import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import { type KeyRing, openShared, type Sealed } from "#core/runtime/process/key-ring.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { nowhere, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import type { FloodLimits } from "./flood-limits.ts";

export type ReceiveDeps = {
  callbacks: Readonly<Record<string, ProviderCallbacks | undefined>>;
  app: (id: string) => Promise<AppRow | null>;
  unseal: KeyRing["open"];
  /** @throws Unavailable */
  certificate: (url: string) => Promise<string>;
  limits: FloodLimits;
  keep: CallbackQueue["keep"];
  /** The service's own address, as providers know it. */
  publicUrl: string;
  count: (labels: { provider: string; outcome: Verdict["kind"] }) => void;
  log: Log;
  clock: Clock;
};

/**
 * Answers a provider: what it signed waits in the queue before it is answered. Whoever cannot sign learns nothing: a
 * provider, app, part or method that is not known is 404, and so is an app without an account; all else is 403.
 */
export const receive =
  (deps: ReceiveDeps) =>
  async (request: OutsideRequest): Promise<OutsideReply> => {
    const { limits, clock } = deps;
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
    const read = await calledOf(deps, request).catch((error: unknown) => {
      limits.refused(request.ip, sender); // as what is not signed: nobody knows whose it was
      throw error;
    });
    const called = { ...read, method, part: rest.join("/") } as const;
    const verdict = await verify(deps, { found, app }, called);
    deps.count({ provider, outcome: verdict.kind });
    if (verdict.kind === "unknown") return refuse(sender, nowhere());
    if (verdict.kind === "refused") return refuse(sender, forbidden());
    limits.verified(sender);
    const { part, url, body } = called;
    const callback = { part, url, body, contentType: contentTypeOf(request), receivedAt: clock.now() };
    if (verdict.kind === "queued") await deps.keep({ tenantId: app.tenant_id, appId, provider }, callback);
    const { status = 200, contentType, text } = verdict.reply;
    return { status, headers: { "Content-Type": contentType }, body: text };
  };

const forbidden = () => new AppError("HS_FORBIDDEN", "the request is not the provider's");

const calledOf = async ({ publicUrl }: ReceiveDeps, request: OutsideRequest) => ({
  url: publicUrl.replace(/\/+$/, "") + request.target,
  header: request.header,
  body: request.method === "GET" ? Buffer.alloc(0) : await request.body(maxCallbackBytes),
});

const verify = async (
  { unseal, certificate, clock }: ReceiveDeps,
  { found, app }: { found: ProviderCallbacks; app: AppRow },
  called: CallbackRequest,
): Promise<Verdict> => {
  const url = found.certificateOf(called);
  const given = url === null ? null : await certificate(url);
  const open = (sealed: Sealed, context: string): string => openShared(unseal, sealed, context, "the account");
  return found.verify(called, {
    open: <C extends Channel>(channel: C): OpenAccount<C> | null => openAccount(app, channel, open),
    now: clock.now(),
    certificate: given,
  });
};

/** In lower case and without parameters. */
const contentTypeOf = ({ header }: OutsideRequest): string =>
  (header("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
