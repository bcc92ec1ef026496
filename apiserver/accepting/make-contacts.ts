import type { Contacts, NewContact } from "#core/storage/people/contacts.ts";
import type { Caller } from "../access/caller.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";
import type { Billable } from "../limits/subscriber-quota.ts";
import type { PeopleOutbox } from "../publishing/people-outbox.ts";

export type MakeContactsDeps = {
  contacts: Pick<Contacts, "add">;
  /** Subscriptions of a tenant that count against its plan, at most `most`; may be up to 10 s old. */
  countBillable: (of: Billable) => Promise<number>;
  /** Publishes what is in an outbox, without being waited for. */
  publish: Pick<PeopleOutbox, "user" | "subscription">;
};

export type MakeContacts = {
  /** Refuses more contacts than the plan has room for. @throws AppError HS_QUOTA_EXCEEDED */
  requireRoom: (caller: Caller, made: readonly NewContact[]) => Promise<void>;
  makeContacts: (made: readonly NewContact[]) => Promise<void>;
};

/** Makes people of the addresses that a message names and its app does not have. Source: docs/reference/messages.md#contacts. */
export const makeContacts = ({ contacts, countBillable, publish }: MakeContactsDeps): MakeContacts => ({
  requireRoom: async ({ tenant, plan: { subscribers: limit } }, made) => {
    const needed = made.reduce((sum, { subscriptions }) => sum + subscriptions.length, 0);
    if (limit === null) return;
    const used = await countBillable({ tenantId: tenant._id, most: Math.max(limit, 1) });
    if (used + needed > limit)
      throw quotaExceeded("the plan's subscribers are exhausted", { metric: "subscribers", limit, used, needed });
  },

  makeContacts: async (made) => {
    for (const { user, subscriptions } of await contacts.add(made)) {
      if (user !== null) publish.user(user);
      for (const row of subscriptions) publish.subscription(row);
    }
  },
});
