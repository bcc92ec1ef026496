import { createHash } from "node:crypto";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { Addressed } from "./subscription-checks.ts";

export type SubscriptionLimits = ReturnType<typeof subscriptionLimits>;

/** Limits writes of one subscription, which is known by its id or by its token. Source: docs/reference/limits.md#narrow-rates. */
export const subscriptionLimits = (limit: NarrowLimit) => ({
  change: ({ _id }: SubscriptionRow): Promise<void> => limit("subscriptions.write", _id),

  registration: (appId: string, { channel, token }: Pick<Addressed, "channel" | "token">): Promise<void> =>
    limit("subscriptions.write", digest([appId, channel, token])),
});

/** Tokens are not for Redis to keep. */
const digest = (parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("base64url");
