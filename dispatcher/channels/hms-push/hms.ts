import { type HmsPush, hmsBody } from "#core/channels/hms-push/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Outcome, Provider } from "#core/domain/messages/outcome.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import { type Answer, authorized } from "../../net/authorized.ts";
import { accessTokens } from "../../net/oauth.ts";
import { type OpenTransport, providerOrigin, type TransportRequest } from "../../net/transport.ts";
import { batches, type OutcomeFor } from "./batches.ts";
import { hmsOutcomes } from "./hms-outcomes.ts";

export type HmsAccount = {
  appId: string;
  clientSecret: string;
  /** Whether Push Kit reports about its deliveries: each then has a request of its own, which carries its id. */
  hasReceipts: boolean;
};

export type HmsDeps = {
  account: HmsAccount;
  /** Of Push Kit and of its access tokens; https unless loopback. */
  urls: { push: string; oauth: string };
  open: OpenTransport;
  clock: Clock;
  /** For one request, with access tokens and both tries when Push Kit refuses the first one's. */
  timeoutMs?: number;
};

/** For one request, unless the program's grace is shorter: Push Kit answers within a second. */
export const hmsTimeoutMs = 20_000;

/**
 * Sends to Huawei devices. The recipients of one push that are given in one turn of the event loop share a request, unless
 * the account has receipts.
 * Source: Huawei, Push Kit, "Sending Downlink Messages" (v1: the sender is one app).
 */
export const hms = ({ account, urls, open, clock, timeoutMs = hmsTimeoutMs }: HmsDeps): Provider<HmsPush> => {
  const transport = open({ origin: providerOrigin(urls.push) });
  const oauth = open({ origin: providerOrigin(urls.oauth) });
  const tokens = accessTokens({ grant: () => grantOf(account), transport: oauth, clock });
  const post = authorized({ transport, tokens, isRefused: isRefusedToken, timeoutMs, clock });
  const path = `/v1/${account.appId}/messages:send`;

  const request = async (given: PushRequest): Promise<OutcomeFor> => {
    const result = await post({ path, ...given });
    if (result.kind !== "answer") return () => result;
    return hmsOutcomes({ ...result, retryAfter: result.headers["retry-after"] }, clock.now());
  };
  const send = batches(({ push, tokens, tag, badge, signal, isOver }) =>
    request({ body: hmsBody(push, { tokens, tag, badge }), signal, isOver }),
  );
  const check = async (signal: AbortSignal): Promise<Outcome> =>
    (await request({ body: checkBody, signal }))(nobodysToken);
  const pushes = underWay();
  return {
    name: "hms",
    send: (push, { deliveryId, address: token, badge }, signal, isOver = () => false) => {
      const tag = account.hasReceipts ? deliveryId : push.messageId;
      return pushes.add(send({ push, tag, badge, signal }, { token, isOver }));
    },
    check: (signal) => pushes.add(check(signal)),
    close: async () => {
      await pushes.settled();
      await Promise.all([transport.close(), oauth.close()]);
    },
  };
};

type PushRequest = Pick<TransportRequest, "body" | "signal" | "isOver">;

const nobodysToken = "herald-account-check-000000000000";

/**
 * Push Kit looks at the account and the message and delivers nothing; that nobody has the token tells of a good account.
 * Source: Huawei, Push Kit, "Sending Downlink Messages", `validate_only`.
 */
const checkBody = JSON.stringify({ validate_only: true, message: { data: "{}", token: [nobodysToken] } });

/** Source: Huawei, "OAuth 2.0-based Authentication", client credentials mode. */
const grantOf = ({ appId, clientSecret }: HmsAccount) => ({
  path: "/oauth2/v3/token",
  form: { grant_type: "client_credentials", client_id: appId, client_secret: clientSecret },
});

/** The access token is wrong, or has expired. Push Kit sent nothing then. */
const isRefusedToken = ({ status, body }: Answer): boolean =>
  status === 401 || body.includes('"80200001"') || body.includes('"80200003"');
