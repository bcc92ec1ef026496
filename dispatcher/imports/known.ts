import type { ImportedAddress } from "#core/domain/imports/row.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { ImportedPeople } from "#core/storage/imports/people.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aliasKey, type UserRow } from "#core/storage/people/users.ts";
import type { BatchRow } from "./import-batch.ts";

/** What the app has already of what a batch names. */
export type Known = {
  users: { byId: ReadonlyMap<string, UserRow>; byExternalId: ReadonlyMap<string, UserRow> };
  /** By {@link addressKey}. */
  subscriptions: ReadonlyMap<string, SubscriptionRow>;
  /** How many subscriptions those users have who may get another. */
  owned: ReadonlyMap<string, number>;
};

type Address = Pick<ImportedAddress, "channel" | "token">;

export const addressKey = ({ channel, token }: Address): string => `${channel} ${token}`;

/** Reads it by at most 500 names in a query. */
export const knownOf = async (people: ImportedPeople, of: OfApp, rows: readonly BatchRow[]): Promise<Known> => {
  const { externalIds, tokens } = namesIn(rows);
  const [named, ...found] = await Promise.all([
    people.usersOf(of, externalIds),
    ...[...tokens].map(([channel, some]) => people.subscriptionsAt(of, channel, [...some])),
  ]);
  const subscriptions = new Map(found.flat().map((row) => [addressKey(row), row]));
  const namedIds = new Set(named.map(({ _id }) => _id));
  const others = new Set(
    found
      .flat()
      .map((row) => row.user_id)
      .filter((id) => !namedIds.has(id)),
  );
  const users = [...named, ...(await people.usersById(of, [...others]))];
  const byExternalId = new Map(users.flatMap((user) => externalIdsOf(user).map((id) => [id, user])));
  const gaining = gainersIn(rows, { subscriptions, byExternalId });
  return {
    users: { byId: new Map(users.map((user) => [user._id, user])), byExternalId },
    subscriptions,
    owned: await people.countsOf(of.appId, [...gaining]),
  };
};

/** A user's own external id, and those of users who were merged into them. */
const externalIdsOf = ({ alias_keys: keys }: UserRow): string[] =>
  keys.filter((key) => key.startsWith(externalLabel)).map((key) => key.slice(externalLabel.length));

const externalLabel = aliasKey("external_id", "");

/** The external ids and tokens of a batch, each once; `all` has both. */
export const namesIn = (rows: readonly BatchRow[]) => {
  const all = new Set<string>();
  const externalIds = new Set<string>();
  const tokens = new Map<Channel, Set<string>>();
  for (const { imported } of rows) {
    if (imported.kind === "faulty" || imported.person === null) continue;
    const { person, address } = imported;
    if (person.externalId !== null) externalIds.add(person.externalId);
    if (person.externalId !== null) all.add(`external_id ${person.externalId}`);
    if (address === null) continue;
    all.add(addressKey(address));
    const ofChannel = tokens.get(address.channel) ?? new Set();
    tokens.set(address.channel, ofChannel.add(address.token));
  }
  return { externalIds: [...externalIds], tokens, all };
};

/** Ids of users who may get a subscription that they do not have. */
const gainersIn = (
  rows: readonly BatchRow[],
  known: Pick<Known, "subscriptions"> & Pick<Known["users"], "byExternalId">,
): Set<string> => {
  const gaining = new Set<string>();
  for (const { imported } of rows) {
    if (imported.kind === "faulty" || imported.address === null) continue;
    const user = known.byExternalId.get(imported.person?.externalId ?? "");
    const owner = known.subscriptions.get(addressKey(imported.address))?.user_id;
    if (user !== undefined && owner !== user._id) gaining.add(user._id);
  }
  return gaining;
};
