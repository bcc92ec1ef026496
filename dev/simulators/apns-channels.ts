import { randomBytes } from "node:crypto";
import type { SimulatedAnswer, SimulatedRequest } from "./kit/http2-server.ts";
import { liveActivityFault } from "./kit/payloads.ts";

type Refused = { status: number; reason: string };

/** A broadcast: the channel that it goes to, its id, and why it is refused. */
type Broadcast = { address: string; key: string; answer: Refused | null };

const mostChannels = 10_000;

/**
 * Apple's broadcast channels of all apps: they are made, shown and deleted, and take updates of live activities.
 * Source: Apple, "Sending channel management requests to APNs", "Sending broadcast push notification requests to APNs".
 */
export const simulatedChannels = (tokenRefusal: (authorization: string | undefined) => string | null) => {
  const stores = new Map<string, { bundleId: string; policy: number }>();

  const create = (bundleId: string, body: string): SimulatedAnswer => {
    const given = JSON.parse(body === "" ? "{}" : body) as Record<string, unknown>; // its members are checked
    const { "message-storage-policy": policy, "push-type": type, ...others } = given;
    if (type !== "LiveActivity") return refusal({ status: 400, reason: "InvalidPushType" });
    if ((policy !== 0 && policy !== 1) || Object.keys(others).length > 0)
      return refusal({ status: 400, reason: "InvalidMessageStoragePolicy" });
    if (stores.size >= mostChannels) return refusal({ status: 400, reason: "CannotCreateChannelConfig" });
    const id = randomBytes(16).toString("base64");
    stores.set(id, { bundleId, policy });
    return { status: 201, headers: { "apns-channel-id": id } };
  };

  const remove = (bundleId: string, id: string): SimulatedAnswer => {
    if (stores.get(id)?.bundleId !== bundleId) return refusal({ status: 404, reason: "ChannelNotRegistered" });
    stores.delete(id);
    return { status: 204 };
  };

  return {
    /** The answer to a request about channels; null for any other. */
    answer: ({ method, path, headers, body }: SimulatedRequest): SimulatedAnswer | null => {
      const [, bundleId] = /^\/1\/apps\/([^/]+)\/channels$/.exec(path) ?? [];
      if (bundleId === undefined) return null;
      const badToken = tokenRefusal(headers.authorization);
      if (badToken !== null) return refusal({ status: 403, reason: badToken });
      if (method === "POST") return create(bundleId, body);
      if (method === "DELETE") return remove(bundleId, String(headers["apns-channel-id"] ?? ""));
      return refusal({ status: 405, reason: "MethodNotAllowed" });
    },

    /** What becomes of a broadcast; null for any other request. */
    broadcast: ({ method, path, headers, body }: SimulatedRequest): Broadcast | null => {
      const [, bundleId] = /^\/4\/broadcasts\/apps\/([^/]+)$/.exec(path) ?? [];
      if (bundleId === undefined) return null;
      const address = String(headers["apns-channel-id"] ?? "");
      const key = String(headers["apns-request-id"] ?? "");
      const channel = stores.get(address);
      const refused = (status: number, reason: string): Broadcast => ({ address, key, answer: { status, reason } });
      const badToken = tokenRefusal(headers.authorization);
      if (badToken !== null) return refused(403, badToken);
      if (method !== "POST") return refused(405, "MethodNotAllowed");
      if (headers["apns-push-type"] !== "liveactivity" || headers["apns-topic"] !== undefined)
        return refused(400, "InvalidPushType");
      if (channel?.bundleId !== bundleId) return refused(400, "ChannelNotRegistered");
      if (channel.policy === 0 && headers["apns-expiration"] !== "0") return refused(400, "BadExpirationDate");
      if (Buffer.byteLength(body) > 5_120) return refused(413, "PayloadTooLarge");
      const fault = liveActivityFault(JSON.parse(body) as object);
      if (fault !== null || body.includes('"event":"start"')) return refused(400, `BadPayload: ${fault}`);
      return { address, key, answer: null };
    },
  };
};

const refusal = ({ status, reason }: Refused): SimulatedAnswer => ({ status, body: JSON.stringify({ reason }) });
