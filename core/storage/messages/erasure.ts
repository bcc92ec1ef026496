import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { contactKey } from "../../channels/addresses.ts";
import { personKey } from "../../domain/people/keys.ts";
import { idPrefixes } from "../../schema/vocabulary/id-prefixes.ts";
import { collectionOf, farAhead, longAgo, type Person } from "../mongo/collection.ts";
import { pageRange } from "../mongo/page-range.ts";
import { findIds, inPages, type OnPage } from "../mongo/pages.ts";
import { readWithin } from "../mongo/read-within.ts";
import { type DeliveryRow, deliveryCollection, deliveryIdOf } from "./deliveries.ts";
import { endedStatuses, type MessageRow } from "./message-row.ts";

const pageMessages = 200;
const pageBytes = 4_000_000; // one target may name 20,000 people
const pageIds = 500; // in one filter

/**
 * Takes a person who is erased out of what was sent: their ids out of the targets of messages, and out of their deliveries
 * the user, the external id and the address. How many messages name them and have not ended: those are read from their
 * targets as they are sent, and are gone through in a later pass. @throws what `onPage` throws
 */
export const eraseSent = async (
  db: Db,
  rows: Collection<MessageRow>,
  person: Person,
  onPage?: OnPage,
): Promise<number> => {
  if (!person.isErased) return 0;
  const deliveries = collectionOf<DeliveryRow>(db, deliveryCollection);
  await eraseSentTo(deliveries, person, onPage);
  let waiting = 0;
  for await (const page of messagesBefore(rows, person)) {
    waiting += await eraseTargets(rows, page, person.keys);
    await eraseDeliveries(deliveries, page, person);
    onPage?.(page.length);
  }
  return waiting;
};

type Named = Pick<MessageRow, "_id" | "target" | "accepted" | "status">;

const named = { target: 1, accepted: 1, status: 1 } as const;

/** Messages of the app that were accepted before the person was deleted: an id of the app may be another's since. */
async function* messagesBefore(rows: Collection<MessageRow>, { tenantId, appId, at }: Person): AsyncGenerator<Named[]> {
  for (let after: string | null = null; ; ) {
    const _id = pageRange("message", { to: at }, { after, isDescending: false });
    const found = rows
      .find<Named>({ app_id: appId, tenant_id: tenantId, _id }, { projection: named, hint: "list" })
      .sort({ _id: 1 })
      .limit(pageMessages);
    const { rows: page, isWhole } = await readWithin(found, pageBytes);
    if (page.length > 0) yield page;
    if (isWhole && page.length < pageMessages) return;
    after = page.at(-1)?._id ?? null;
  }
}

const hasEnded = ({ status }: Named): boolean => endedStatuses.some((one) => one === status);

/** How many of these messages name the person, and have not ended. */
const eraseTargets = async (
  rows: Collection<MessageRow>,
  page: readonly Named[],
  keys: ReadonlySet<string>,
): Promise<number> => {
  const naming = page.flatMap((row) => changeOf(row, keys));
  const writes = naming.filter(({ row }) => hasEnded(row)).map(({ write }) => write);
  if (writes.length > 0) await rows.bulkWrite(writes, { ordered: false });
  return naming.length - writes.length;
};

type Change = { row: Named; write: AnyBulkWriteOperation<MessageRow> };

const changeOf = (row: Named, keys: ReadonlySet<string>): Change[] => {
  const target = withoutPerson(row.target, keys);
  const accepted = withoutMissing(row.accepted, keys);
  if (sizeOf(target) === sizeOf(row.target) && sizeOf(accepted) === sizeOf(row.accepted)) return [];
  return [{ row, write: { updateOne: { filter: { _id: row._id }, update: { $set: { target, accepted } } } } }];
};

const sizeOf = (value: object): number => JSON.stringify(value).length;

type Keys = ReadonlySet<string>;

const without = (ids: readonly string[], keys: Keys, keyOf: (id: string) => string): string[] =>
  ids.filter((id) => !keys.has(keyOf(id)));

const withoutAliases = (aliases: Readonly<Record<string, string[]>>, keys: Keys): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(aliases).map(([label, ids]) => [
      label,
      without(ids, keys, (id) => (label === "user_id" ? id : personKey(label, id))),
    ]),
  );

const withoutPerson = (target: MessageRow["target"], keys: Keys): MessageRow["target"] => ({
  ...target,
  ...(target.include_subscription_ids && {
    include_subscription_ids: without(target.include_subscription_ids, keys, (id) => id),
  }),
  ...(target.include_external_ids && {
    include_external_ids: without(target.include_external_ids, keys, (id) => personKey("external_id", id)),
  }),
  ...(target.include_aliases && { include_aliases: withoutAliases(target.include_aliases, keys) }),
  ...(target.email_to && { email_to: without(target.email_to, keys, (one) => contactKey("email", one)) }),
  ...(target.include_phone_numbers && {
    include_phone_numbers: without(target.include_phone_numbers, keys, (one) => contactKey("sms", one)),
  }),
});

/** The reply of the accept lists ids that nobody had at that moment: they may have had them later. */
const withoutMissing = ({ missing, ...accepted }: MessageRow["accepted"], keys: Keys): MessageRow["accepted"] => ({
  ...accepted,
  external_id_missing: without(accepted.external_id_missing, keys, (id) => personKey("external_id", id)),
  ...(missing && {
    missing: {
      subscription_ids: without(missing.subscription_ids, keys, (id) => id),
      aliases: withoutAliases(missing.aliases, keys),
    },
  }),
});

const nobody = { $set: { user_id: null, address_masked: null }, $unset: { external_id: "" } } as const;

/** What was sent to the person, also to subscriptions that they had no more. */
const eraseSentTo = async (rows: Collection<DeliveryRow>, { userId, keys, appId }: Person, onPage?: OnPage) => {
  for (const user_id of new Set([userId, ...ofKind("user", keys)]))
    for (;;) {
      const sent = { user_id, sent_at: { $gt: longAgo, $lt: farAhead }, app_id: appId };
      const ids = await findIds(rows, sent, { hint: "sent_to", limit: pageIds });
      if (ids.length > 0) await rows.updateMany({ _id: { $in: ids } }, nobody);
      onPage?.(ids.length);
      if (ids.length < pageIds) break;
    }
};

/** What these messages were to bring to the person's subscriptions, whether it was sent or not. */
const eraseDeliveries = async (rows: Collection<DeliveryRow>, page: readonly Named[], { keys, appId }: Person) => {
  const subscriptions = ofKind("subscription", keys);
  const ids = page.flatMap(({ _id }) => subscriptions.map((id) => deliveryIdOf(_id, id)));
  await inPages(ids, pageIds, async (some) => {
    await rows.updateMany({ _id: { $in: some }, app_id: appId, user_id: { $ne: null } }, nobody);
    return [];
  });
};

const ofKind = (kind: "user" | "subscription", keys: Keys): string[] =>
  [...keys].filter((key) => key.startsWith(`${idPrefixes[kind]}_`));
