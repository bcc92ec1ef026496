import { createHmac } from "node:crypto";
import type { Receipt, ReceiptFact } from "../../../domain/messages/receipts.ts";
import {
  type Callback,
  type CallbackDefinition,
  isFresh,
  isSame,
  maxCallbackItems,
  refused,
  UnreadableCallback,
  type Verdict,
} from "../../kit/callbacks.ts";

type Account = { callback_user: string | null; callback_key: string | null };

const maxAgeMs = 600_000; // Huawei names no bound

/**
 * The receipts of Push Kit. Its signature covers an instant, a nonce and the user name, but not the body: the first body
 * that comes with it is the one that counts.
 * Source: Huawei, Push Kit, "Sending Receipts for Downlink Messages" (V1), "Message Receipt" (V2).
 */
export const hms: CallbackDefinition<Account> = {
  verify: ({ header }, { account: { callback_user: user, callback_key: key }, now }) => {
    const { timestamp = "", nonce = "", value = "" } = partsOf(header("x-huawei-callback-id") ?? "");
    const at = new Date(/^\d{1,15}$/.test(timestamp) ? Number(timestamp) : Number.NaN);
    if (user === null || key === null || !isFresh(at, now, maxAgeMs)) return refused;
    const signed = `${timestamp}${nonce}${user}`;
    const wanted = createHmac("sha256", key).update(signed).digest("base64");
    return isSame(value, wanted)
      ? { ...taken, once: { signature: wanted, until: new Date(at.getTime() + maxAgeMs) } }
      : refused;
  },
  read: (callback) => {
    const statuses = statusesOf(callback.body);
    return { receipts: statuses.slice(0, maxCallbackItems).flatMap((one) => receiptOf(one, callback)), inbound: [] };
  },
};

const taken = {
  kind: "queued",
  reply: { contentType: "application/json", text: '{"errno":"0","errmsg":"success"}' },
} as const satisfies Verdict;

/** `timestamp=…; nonce=…; value=…`, where the value ends with the `=` of base64. */
const partsOf = (header: string): Record<string, string> =>
  Object.fromEntries(
    Array.from(header.matchAll(/(\w+)=([^;]*)/g), ([, name = "", value = ""]) => [name, value.trim()]),
  );

type Status = {
  token?: unknown;
  biTag?: unknown;
  requestId?: unknown;
  /** V1. */
  status?: unknown;
  timestamp?: unknown;
  /** V2. */
  deliveryStatus?: { result?: unknown; timestamp?: unknown };
};

const statusesOf = (body: Buffer): Status[] => {
  try {
    const { statuses } = Object(JSON.parse(body.toString("utf8"))) as { statuses?: unknown }; // checked below
    if (Array.isArray(statuses)) return statuses.map((one) => Object(one) as Status); // members are checked one by one
  } catch {
    // the error below says it
  }
  throw new UnreadableCallback("has no statuses");
};

const receiptOf = (one: Status, { receivedAt }: Callback): Receipt[] => {
  const { result = one.status, timestamp = one.timestamp } = one.deliveryStatus ?? {};
  const [deliveryId, providerId, address] = [one.biTag, one.requestId, one.token].map(textOf);
  if (typeof result !== "number" || !deliveryId) return [];
  const said = new Date(typeof timestamp === "number" ? timestamp : Number.NaN);
  const at = Number.isNaN(said.getTime()) ? receivedAt : said;
  return [{ deliveryId, providerId: providerId ?? null, address: address ?? null, at, ...factOf(result) }];
};

const textOf = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Source: Huawei, Push Kit, "Message Receipt", receipt states. */
const factOf = (result: number): ReceiptFact => {
  if (result === 0) return { kind: "delivered" };
  const { code, reason } = refusals[result] ?? notShown;
  return { kind: "failed", code, providerCode: String(result), reason: `the device reports: ${reason}` };
};

const notShown = { code: "PROVIDER_REJECTED", reason: "the push was not delivered" } as const;

const refusals: Record<number, { code: "TOKEN_UNREGISTERED" | "TOKEN_INVALID" | "PROVIDER_REJECTED"; reason: string }> =
  {
    2: { code: "TOKEN_UNREGISTERED", reason: "the app is not installed" },
    5: { code: "TOKEN_INVALID", reason: "the token is of another user of the device" },
    6: { code: "PROVIDER_REJECTED", reason: "notifications are turned off" },
    10: { code: "PROVIDER_REJECTED", reason: "the device has not been online for 30 days" },
  };
