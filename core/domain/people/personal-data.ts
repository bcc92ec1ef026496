import { InboxItem } from "../../schema/inbox/item.ts";
import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import { type PersonalData, StoredInAppEvent } from "../../schema/people/data.ts";
import { quarterMs } from "../durations.ts";

type StoredEvent = {
  _id: string;
  name: string;
  subscription_id?: string | null;
  properties?: string | null;
  value?: number | null;
  source: string;
  occurred_at: Date;
  received_at: Date;
};

/** A custom event, as the data of a person shows it. Source: docs/reference/people.md#personal-data. */
export const eventOfPerson = (row: StoredEvent): PersonalData["events"][number] => ({
  id: row._id,
  name: row.name,
  subscription_id: row.subscription_id ?? null,
  properties: JSON.parse(row.properties ?? "{}") as Record<string, unknown>, // sound: what an event was stored with
  value: row.value ?? null,
  source: row.source,
  occurred_at: row.occurred_at.toISOString(),
  received_at: row.received_at.toISOString(),
});

/** What they did with an in-app message. */
export const inAppEventOfPerson = (
  row: Omit<DocumentOf<typeof StoredInAppEvent>, "id"> & { _id: string },
): PersonalData["in_app_events"][number] => showAs(StoredInAppEvent, { ...row, id: row._id });

/** When their devices began sessions in a month: `quarters` of an hour since it began, in any order. */
export const sessionsOfPerson = ({
  month,
  quarters,
}: {
  month: Date;
  quarters: readonly number[];
}): PersonalData["sessions"][number] => ({
  month: month.toISOString(),
  begun: quarters
    .toSorted((a, b) => a - b)
    .map((quarter) => new Date(month.getTime() + quarter * quarterMs).toISOString()),
});

type Owned = { _id: string; channel: PersonalData["addresses"][number]["channel"]; token: string };

/** The addresses of their subscriptions, unmasked. */
export const addressesOf = (owned: readonly Owned[]): PersonalData["addresses"] =>
  owned.map(({ _id, channel, token }) => ({ subscription_id: _id, channel, token }));

/** What their inbox shows. */
export const inboxOf = (items: readonly DocumentOf<typeof InboxItem>[]): PersonalData["inbox"] =>
  items.map((item) => showAs(InboxItem, item));
