import { type FcmPush, fcmBody } from "#core/channels/android-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, type Provider, unusable } from "#core/domain/messages/outcome.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import { googleToken, type ServiceAccount } from "../../net/oauth.ts";
import {
  notAnswered,
  type OpenTransport,
  providerOrigin,
  type Transport,
  type TransportResult,
} from "../../net/transport.ts";
import { fcmOutcome } from "./fcm-outcomes.ts";

export type FcmAccount = ServiceAccount & { projectId: string };

export type FcmDeps = {
  account: FcmAccount;
  /** `https://fcm.googleapis.com`; https unless loopback. */
  baseUrl: string;
  open: OpenTransport;
  clock: Clock;
  /** For one push, with access tokens and both tries when FCM refuses the first one's. */
  timeoutMs?: number;
};

/** For one push, unless the program's grace is shorter: FCM answers within a second. */
export const fcmTimeoutMs = 20_000;

/**
 * Sends to Android devices over FCM HTTP v1, on connections that stay open.
 * Source: Firebase, REST method projects.messages.send.
 */
export const fcm = ({ account, baseUrl, open, clock, timeoutMs = fcmTimeoutMs }: FcmDeps): Provider<FcmPush> => {
  const origin = providerOrigin(baseUrl);
  const transport = open({ origin });
  const tokens = tokenTransport(account.tokenUri, origin, { transport, open });
  if (tokens === null) return { name: "fcm", send: async () => foreignTokenUri, close: transport.close };

  const token = googleToken({ account, transport: tokens, clock });
  const path = `/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
  const attempt = async (endsAtMs: number, given: Given): Promise<TransportResult | Outcome> => {
    const [push, to, signal, isOver] = given;
    const granted = token.known() ?? (await inTime(token.current(), endsAtMs));
    if (granted.kind !== "token") return granted;
    const result = await transport.request({
      path,
      headers: { authorization: `Bearer ${granted.value}`, "content-type": "application/json" },
      body: fcmBody(push, to.address, to.deliveryId),
      timeoutMs: endsAtMs - performance.now(),
      signal,
      isOver,
    });
    if (isRefusedToken(result)) token.refused(granted.value);
    return result;
  };
  const send = async (...given: Given): Promise<Outcome> => {
    const endsAtMs = performance.now() + timeoutMs;
    const first = await attempt(endsAtMs, given);
    const result = isRefusedToken(first) ? await attempt(endsAtMs, given) : first;
    return outcomeOf(result, clock.now());
  };
  const pushes = underWay();
  return {
    name: "fcm",
    send: (...given) => pushes.add(send(...given)),
    close: async () => {
      await pushes.settled();
      await transport.close();
      await tokens.close();
    },
  };
};

type Given = Parameters<Provider<FcmPush>["send"]>;

/** An access token, or that there was none in time: nothing was sent, so that it may be tried again. */
const inTime = async <T>(asked: Promise<T>, endsAtMs: number): Promise<T | TransportResult> => {
  const { promise: late, resolve } = Promise.withResolvers<TransportResult>();
  const giveUp = (): void => resolve({ kind: "not_sent", reason: "no access token in time" });
  const timer = setTimeout(giveUp, Math.max(0, endsAtMs - performance.now()));
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
};

/**
 * Where access tokens come from. A tenant names the address, so it must be Google's, or stand where FCM itself stands:
 * else a tenant could have requests made to addresses inside the operator's network.
 */
const tokenTransport = (
  tokenUri: string,
  origin: string,
  { transport, open }: { transport: Transport; open: OpenTransport },
): Transport | null => {
  const url = URL.parse(tokenUri);
  if (url?.origin === origin) return transport;
  const isGoogles = url?.protocol === "https:" && url.port === "" && url.hostname.endsWith(".googleapis.com");
  return isGoogles ? open({ origin: url.origin }) : null;
};

const foreignTokenUri = unusable("the service account's token_uri is not an address of googleapis.com");

/** Not 401 THIRD_PARTY_AUTH_ERROR: that is Apple's or a browser's credentials, kept in the Firebase project. */
const isRefusedToken = (result: TransportResult | Outcome): boolean =>
  result.kind === "answer" && result.status === 401 && !result.body.includes("THIRD_PARTY_AUTH_ERROR");

const outcomeOf = (result: TransportResult | Outcome, now: Date): Outcome => {
  if (result.kind === "answer") return fcmOutcome({ ...result, retryAfter: result.headers["retry-after"] }, now);
  const isOfTransport = result.kind === "not_sent" || result.kind === "broken" || result.kind === "impossible";
  return isOfTransport ? notAnswered(result, now) : result;
};
