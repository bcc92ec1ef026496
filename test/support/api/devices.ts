import { randomUUID } from "node:crypto";
import { newSecret } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aSubscription, aUser, seed } from "../rows/fixtures.ts";
import type { Installation } from "./api.ts";
import type { Tenant } from "./site.ts";

/** A device of somebody that has registered: with the headers by which it proves that. */
export type SeededDevice = { user: UserRow; subscription: SubscriptionRow; headers: Record<string, string> };

/** Stores what a registration makes, without the rate of one. */
export const seedDevice = async (
  site: Pick<Installation, "db">,
  { tenant, app }: Tenant,
  { user: given, ...over }: Partial<SubscriptionRow> & { user?: UserRow } = {},
): Promise<SeededDevice> => {
  const of = { tenant_id: tenant._id, app_id: app._id };
  const user = given ?? aUser(of);
  const { text, hash } = newSecret();
  const install = { id: randomUUID(), secret_hash: hash };
  const subscription = aSubscription({ ...of, user_id: user._id, install, ...over });
  await seed(site.db, { users: given === undefined ? [user] : [], subscriptions: [subscription] });
  return { user, subscription, headers: { "X-HS-App-Id": app._id, "X-HS-Subscription-Token": text } };
};
