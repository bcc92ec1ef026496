import { randomBytes } from "node:crypto";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { type Selection, segmentMembers } from "#core/domain/segments/members.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { aSubscription, aUser, seed } from "../../support/rows/fixtures.ts";
import type { System } from "../../support/system/system.ts";

const seededAtOnce = 2_000;

/** People with a device each, of whom half pass {@link half}. */
export const seedPeople = async ({ db, tenantId, app }: System, people: number): Promise<void> => {
  const of = { tenant_id: tenantId, app_id: app._id };
  const dayMs = 86_400_000;
  for (let from = 0; from < people; from += seededAtOnce) {
    const users = Array.from({ length: Math.min(seededAtOnce, people - from) }, (_, i): UserRow => {
      const n = from + i;
      const last_active_at = new Date(Date.now() - (n % 60) * dayMs);
      const tags = { plan: n % 2 === 0 ? "gold" : "free", orders: String(n % 40) };
      const country = ["DE", "AT", "CH", "FR", "US"][n % 5] ?? "DE";
      return aUser({ ...of, tags, last_active_at, country, language: n % 3 === 0 ? "en" : "de" });
    });
    const subscriptions = users.map(({ _id: user_id }, i) => {
      const device = { model: "iPhone15,2", os_version: `1${i % 8}.${i % 5}`, app_version: `2.${i % 30}.0` };
      return aSubscription({ ...of, user_id, token: randomBytes(32).toString("hex"), device });
    });
    await seed(db, { users, subscriptions });
  }
};

/** Every second of these people. */
export const half = { all: [{ field: "tags.plan", op: "eq", value: "gold" }] };
/** One in some twenty of them. */
export const five = {
  all: [
    ...half.all,
    { field: "language", op: "eq", value: "de" },
    { field: "country", op: "in", value: ["DE", "AT", "CH"] },
    { field: "last_active_at", op: "within_last", value: { amount: 30, unit: "days" } },
    { field: "device.os_version", op: "gte", value: "13.0" },
  ],
};

/** A filter as it decides. */
export const selectionOf = (filter: object): Selection =>
  segmentMembers(new Map(), new Date()).ofFilter(parseFilter(filter));

/** Nobody of them, which the store cannot tell: everybody is looked at. */
export const nobody = { all: [...half.all, { field: "device.os_version", op: "gte", value: "99" }] };
