import { type FcmPush, fcmBody } from "#core/channels/android-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, type Provider, unusable } from "#core/domain/messages/outcome.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import { type Answer, authorized } from "../../net/authorized.ts";
import { accessTokens } from "../../net/oauth.ts";
import { type OpenTransport, providerOrigin, type Transport, type TransportRequest } from "../../net/transport.ts";
import { fcmOutcome } from "./fcm-outcomes.ts";
import { googleGrant, type ServiceAccount } from "./google-grant.ts";

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
  if (tokens === null) {
    const refuse = async () => foreignTokenUri;
    return { name: "fcm", send: refuse, check: refuse, close: transport.close };
  }

  const request = authorized({
    transport,
    tokens: accessTokens({ grant: googleGrant(account), transport: tokens, clock }),
    isRefused: isRefusedToken,
    timeoutMs,
    clock,
  });
  const path = `/v1/projects/${encodeURIComponent(account.projectId)}/messages:send`;
  const post = async (given: PushRequest): Promise<Outcome> => {
    const result = await request({ path, ...given });
    if (result.kind !== "answer") return result;
    return fcmOutcome({ ...result, retryAfter: result.headers["retry-after"] }, clock.now());
  };
  const pushes = underWay();
  return {
    name: "fcm",
    send: (push, to, signal, isOver) =>
      pushes.add(post({ body: fcmBody(push, to.address, to.deliveryId), signal, isOver })),
    check: (signal) => pushes.add(post({ body: checkBody, signal })),
    close: async () => {
      await pushes.settled();
      await transport.close();
      await tokens.close();
    },
  };
};

type PushRequest = Pick<TransportRequest, "body" | "signal" | "isOver">;

/**
 * FCM looks at the account and the message and delivers nothing. A topic exists as soon as it is named, so that the
 * answer of a good account is 200. Source: Firebase, REST method projects.messages.send, `validate_only`.
 */
const checkBody = JSON.stringify({ validate_only: true, message: { topic: "herald-account-check" } });

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
const isRefusedToken = ({ status, body }: Answer): boolean =>
  status === 401 && !body.includes("THIRD_PARTY_AUTH_ERROR");
