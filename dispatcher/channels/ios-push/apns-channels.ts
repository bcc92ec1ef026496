import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, unusable } from "#core/domain/messages/outcome.ts";
import { notAnswered, type OpenTransport, providerOrigin, type TransportResult } from "../../net/transport.ts";
import type { BroadcastChannels, ChannelMade } from "../kit/provider.ts";
import type { ApnsAccount } from "./apns.ts";
import { apnsOutcome } from "./apns-outcomes.ts";
import type { ApnsTokens } from "./apns-tokens.ts";

export type ApnsChannelsDeps = {
  account: ApnsAccount;
  /** Of the account's environment; another host than that for pushes. */
  baseUrl: string;
  open: OpenTransport;
  tokens: ApnsTokens;
  clock: Clock;
  timeoutMs: number;
};

/**
 * Makes and deletes broadcast channels. The connection is opened with the first request.
 * Source: Apple, "Sending channel management requests to APNs".
 */
export const apnsChannels = (deps: ApnsChannelsDeps): BroadcastChannels => {
  const { account, baseUrl, open, tokens, clock, timeoutMs } = deps;
  let transport: ReturnType<OpenTransport> | undefined;
  const ask = async (
    method: "POST" | "DELETE",
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
  ): Promise<TransportResult | null> => {
    const token = tokens.current(account);
    if (token === null) return null;
    transport ??= open({ origin: providerOrigin(baseUrl), initialStreams: 1 });
    const path = `/1/apps/${encodeURIComponent(account.bundleId)}/channels`;
    return transport.request({
      method,
      path,
      headers: { authorization: `bearer ${token}`, ...headers },
      body,
      timeoutMs,
      signal,
    });
  };
  return {
    create: async (storesLatest, signal) => {
      const body = JSON.stringify({ "message-storage-policy": storesLatest ? 1 : 0, "push-type": "LiveActivity" });
      return madeOf(await ask("POST", {}, body, signal), clock.now());
    },
    remove: async (channelId, signal) =>
      removedOf(await ask("DELETE", { "apns-channel-id": channelId }, "", signal), clock.now()),
    close: async () => transport?.close(),
  };
};

const unusableKey = unusable("the private key is not an ES256 key in PEM form");

const madeOf = (result: TransportResult | null, now: Date): ChannelMade => {
  if (result === null) return { kind: "refused", outcome: unusableKey };
  if (result.kind !== "answer") return { kind: "refused", outcome: notAnswered(result, now) };
  const id = result.headers["apns-channel-id"];
  if (result.status === 201 && id !== undefined) return { kind: "made", id };
  return { kind: "refused", outcome: apnsOutcome(result, "", now) };
};

/** Null when Apple has it no more. */
const removedOf = (result: TransportResult | null, now: Date): Outcome | null => {
  if (result === null) return unusableKey;
  if (result.kind !== "answer") return notAnswered(result, now);
  const isGone = result.status < 300 || result.status === 404 || result.body.includes("ChannelNotRegistered");
  return isGone ? null : apnsOutcome(result, "", now);
};
