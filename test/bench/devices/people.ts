import { randomUUID } from "node:crypto";
import { newSecret } from "#core/storage/people/devices.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aSubscription, aUser, seed } from "../../support/rows/fixtures.ts";
import type { System } from "../../support/system/system.ts";

/** A registered device of a person of its own. */
export type BenchDevice = { subscription: SubscriptionRow; headers: Record<string, string> };

/** Stores devices as registrations leave them. */
export const seedDevices = async (
  { db, app, tenantId }: Pick<System, "db" | "app" | "tenantId">,
  count: number,
): Promise<BenchDevice[]> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const all: BenchDevice[] = [];
  while (all.length < count) {
    const users = Array.from({ length: Math.min(stored, count - all.length) }, () => aUser(of));
    const made = users.map((user) => {
      const { text, hash } = newSecret();
      const install = { id: randomUUID(), secret_hash: hash };
      const token = randomUUID().replaceAll("-", "").repeat(2);
      const subscription = aSubscription({ ...of, user_id: user._id, token, install });
      return { subscription, headers: { "X-HS-App-Id": app._id, "X-HS-Subscription-Token": text } };
    });
    await seed(db, { users, subscriptions: made.map(({ subscription }) => subscription) });
    all.push(...made);
  }
  return all;
};

const stored = 1_000; // at once
