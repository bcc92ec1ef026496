import { createHash } from "node:crypto";
import type { CreateSubscription } from "#core/schema/people/subscription.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "./narrow-limit.ts";

/** Limits below a key's rate, of operations that have no file of their own to say them. Source: decisions 9.7. */
export const limits = (limit: NarrowLimit) => ({
  /** Of an app's messages over all its keys: the plan's rate, and 100 a second where that is less. */
  notification: ({ plan }: Caller, app: AppRow): Promise<void> =>
    limit("notifications.create", app._id, { calls: Math.max(leastPerSecond, plan.api_rps), seconds: 1 }),

  /** Of changes of one subscription. */
  subscription: ({ _id }: SubscriptionRow): Promise<void> => limit("subscriptions.write", _id, ofOne),

  /** The same for one that is named by its token. */
  registration: ({ app_id: appId }: UserRow, { channel, token }: CreateSubscription): Promise<void> =>
    limit("subscriptions.write", digest([appId, channel, token]), ofOne),
});

const leastPerSecond = 100;
const ofOne = { calls: 1, seconds: 1, burst: 10 };

/** Tokens are not for Redis to keep. */
const digest = (parts: readonly string[]): string => createHash("sha256").update(parts.join("\n")).digest("base64url");
