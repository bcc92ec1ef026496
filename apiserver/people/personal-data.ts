import type { Clock } from "#core/domain/clock.ts";
import { deliveryView } from "#core/domain/messages/delivery-view.ts";
import { userView } from "#core/domain/people/views.ts";
import { suppressionView } from "#core/domain/suppressions/views.ts";
import { AppError } from "#core/errors.ts";
import { InboxItem } from "#core/schema/inbox/item.ts";
import { showAs } from "#core/schema/json/show.ts";
import { type PersonalData, personalDataBytes } from "#core/schema/people/data.ts";
import type { EventRow } from "#core/storage/events/events.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { dataOfPerson } from "#core/storage/people/data.ts";
import { keysOfPerson } from "#core/storage/people/removal.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";

export type PersonalDataDeps = {
  subscriptions: Pick<Subscriptions, "ofUser">;
  read: ReturnType<typeof dataOfPerson>;
  limit: NarrowLimit;
  clock: Clock;
};

/**
 * Shows what is stored about a person, addresses unmasked. Source: docs/reference/people.md#personal-data.
 * @throws AppError HS_PAYLOAD_TOO_LARGE
 */
export const personalData =
  ({ subscriptions, read, limit, clock }: PersonalDataDeps) =>
  async (user: UserRow): Promise<PersonalData> => {
    await limit("users.data", user.app_id);
    const of = ofRow(user);
    const owned = await subscriptions.ofUser(of, user._id);
    const stored = await read(of, keysOfPerson(user, owned), {
      mostBytes: personalDataBytes,
      now: clock.now(),
    });
    if (stored === null) throw tooLarge();
    const data = {
      user: userView(user, owned),
      addresses: owned.map(({ _id, channel, token }) => ({ subscription_id: _id, channel, token })),
      suppressions: stored.suppressions.map(suppressionView),
      events: stored.events.map(eventOf),
      deliveries: stored.deliveries.map(deliveryView),
      inbox: stored.inbox.map((item) => showAs(InboxItem, item)),
      generated_at: clock.now().toISOString(),
    };
    if (Buffer.byteLength(JSON.stringify(data)) > personalDataBytes) throw tooLarge();
    return data;
  };

const tooLarge = (): AppError =>
  new AppError("HS_PAYLOAD_TOO_LARGE", "what is stored about the user is too much for a reply: export it", {
    limit_bytes: personalDataBytes,
  });

const eventOf = (row: EventRow): PersonalData["events"][number] => ({
  id: row._id,
  name: row.name,
  subscription_id: row.subscription_id ?? null,
  properties: JSON.parse(row.properties ?? "{}") as Record<string, unknown>, // sound: what an event was stored with
  value: row.value ?? null,
  source: row.source,
  occurred_at: row.occurred_at.toISOString(),
  received_at: row.received_at.toISOString(),
});
