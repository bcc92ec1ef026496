import { type WhatsappMessage, whatsappBody } from "#core/channels/whatsapp/render.ts";
import type { Clock } from "#core/domain/clock.ts";
import { NotBegun, type Outcome, type Provider } from "#core/domain/messages/outcome.ts";
import { paced } from "#core/runtime/batching/paced.ts";
import { underWay } from "#core/runtime/batching/under-way.ts";
import { notAnswered, type OpenTransport, providerOrigin, type TransportRequest } from "../../net/transport.ts";
import { metaOutcome } from "./meta-outcomes.ts";

export type MetaAccount = {
  phoneNumberId: string;
  /** Of the Graph API, e.g. `v25.0`. */
  apiVersion: string;
  accessToken: string;
  /** What Meta takes from this number; what is more waits here rather than for a refusal. */
  messagesPerSecond: number;
};

export type MetaDeps = {
  account: MetaAccount;
  /** `https://graph.facebook.com`; https unless loopback. */
  baseUrl: string;
  open: OpenTransport;
  clock: Clock;
  timeoutMs?: number;
};

/** For one message once its turn has come, unless the program's grace is shorter: Meta answers within a second or two. */
export const metaTimeoutMs = 20_000;

/**
 * Sends on WhatsApp by Meta's Cloud API.
 * Source: developers.facebook.com, WhatsApp Business Platform, "Message API" (`POST /{version}/{phone-number-id}/messages`).
 */
export const meta = ({
  account,
  baseUrl,
  open,
  clock,
  timeoutMs = metaTimeoutMs,
}: MetaDeps): Provider<WhatsappMessage> => {
  const transport = open({ origin: providerOrigin(baseUrl) });
  const path = `/${account.apiVersion}/${account.phoneNumberId}/messages`;
  const headers = { authorization: `Bearer ${account.accessToken}`, "content-type": "application/json" };
  const turn = paced(() => account.messagesPerSecond);
  const post = async (given: Pick<TransportRequest, "body" | "signal" | "isOver">): Promise<Outcome> => {
    const result = await transport.request({ path, headers, timeoutMs, ...given });
    if (result.kind !== "answer") return notAnswered(result, clock.now());
    return metaOutcome({ ...result, retryAfter: result.headers["retry-after"] }, clock.now());
  };
  const send = async (...[message, to, signal, isOver]: SendArguments): Promise<Outcome> => {
    if (!(await turn(signal))) throw new NotBegun();
    return post({ body: whatsappBody(message, to.address, to.deliveryId), signal, isOver });
  };
  const messages = underWay();
  return {
    name: "meta",
    takes: { perSecond: account.messagesPerSecond },
    send: (...given) => messages.add(send(...given)),
    check: (signal) => messages.add(post({ body: messageToNobody, signal }).then(ofAccount)),
    close: async () => {
      await messages.settled();
      await transport.close();
    },
  };
};

type SendArguments = Parameters<Provider<WhatsappMessage>["send"]>;

const messageToNobody = JSON.stringify({
  messaging_product: "whatsapp",
  type: "text",
  text: { body: "Connection test" },
});

/** "Invalid parameter", "Required parameter is missing", "Parameter value is not valid". */
const recipientMissing: readonly (string | null)[] = ["100", "131008", "131009"];

/** Whoever may send from the number is told that the recipient is missing. */
const ofAccount = (outcome: Outcome): Outcome =>
  outcome.kind === "payload_error" && recipientMissing.includes(outcome.providerCode)
    ? { kind: "sent", providerId: null }
    : outcome;
