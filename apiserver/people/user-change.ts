import { isDeepStrictEqual } from "node:util";
import type { UpdateFilter } from "mongodb";
import { defined } from "#core/domain/defined.ts";
import { invalid } from "#core/errors.ts";
import { type UpdateUser, userLimits } from "#core/schema/people/user.ts";
import { aliasKey, type UserRow } from "#core/storage/people/users.ts";

/** What a body makes of a user: the members as they will be, and the update that gets there. */
export type Change = { whole: Partial<UserRow> & Identity; update: UpdateFilter<UserRow> };

/**
 * Applies a body to a user: maps are merged, null (and for tags "") removes. The repository sees that they are still as
 * they were read.
 * @throws ValidationError when what the body names would pass a bound
 */
export const changeOf = (user: UserRow, body: UpdateUser, now = user.updated_at): Change => {
  const identity = identityOf(user, body);
  const others = {
    ...(body.tags !== undefined && { tags: tagsOf(user, body.tags) }),
    ...(body.properties !== undefined && { properties: propertiesOf(user, body.properties) }),
    ...defined({
      language: body.language,
      time_zone: body.timezone,
      country: body.country,
      location: body.location,
      amount_spent: body.amount_spent,
      session_time: body.session_time,
    }),
  };
  const whole = { ...identity, ...others };
  const reported = reportOf(user, namesOfChanged(user, whole), now);
  const written = isDeepStrictEqual(identity.alias_keys, user.alias_keys) ? others : whole; // of the same ids nothing is sent
  return { whole, update: { ...reported, $set: { ...written, updated_at: now, ...reported.$set } } };
};

/** Changes within this time are reported by one event. Source: docs/reference/people.md#people-events. */
const sameEventMs = 5_000;

/** Has the dispatchers report what changed; `due_at` is always written: they may be reporting what changed before. */
const reportOf = (user: UserRow, names: readonly string[], now: Date): UpdateFilter<UserRow> => {
  if (names.length === 0) return {};
  const at = new Date(now.getTime() + sameEventMs);
  const isDueBefore = user.due_at !== null && user.due_at < at;
  return {
    $set: { due_at: isDueBefore ? user.due_at : at },
    $addToSet: { changed: { $each: [...names] } },
    $inc: { revision: 1 },
  };
};

type Identity = Pick<UserRow, "external_id" | "aliases" | "alias_keys">;

/** External id and aliases after a body, and the keys in the unique index. An id that leads to them since a merge changes nothing. */
const identityOf = (user: UserRow, { external_id: given, aliases }: UpdateUser): Identity => {
  const { merged_keys: led = [] } = user;
  const isLed = (label: string, id: string | null): boolean => id !== null && led.includes(aliasKey(label, id));
  const externalId = given === undefined || isLed("external_id", given) ? user.external_id : given;
  const named = Object.entries(aliases ?? {}).filter(([label, id]) => !isLed(label, id));
  const kept = named.length === 0 ? user.aliases : bounded("aliases", merged(user.aliases, named));
  const all = { user_id: user._id, ...(externalId !== null && { external_id: externalId }), ...kept };
  return {
    external_id: externalId,
    aliases: kept,
    // Our own id is one of them: the unique index would take two users without any alias for the same one.
    alias_keys: [...Object.entries(all).map(([label, id]) => aliasKey(label, id)), ...led],
  };
};

const tagsOf = (user: UserRow, tags: NonNullable<UpdateUser["tags"]>): UserRow["tags"] =>
  bounded(
    "tags",
    merged(
      user.tags,
      Object.entries(tags).map(([name, value]) => [name, tagOf(value)] as const),
    ),
  );

const propertiesOf = (user: UserRow, properties: Record<string, unknown>): UserRow["properties"] =>
  small(bounded("properties", merged(user.properties, Object.entries(properties))));

/** Tags are text; null and "" mean none. Source: docs/reference/people.md#tags. */
const tagOf = (value: string | number | boolean | null): string | null =>
  value === null || value === "" ? null : String(value);

const merged = <T>(before: Readonly<Record<string, T>>, entries: readonly (readonly [string, T | null])[]) => {
  const after = new Map(Object.entries(before));
  for (const [name, value] of entries) {
    if (value === null) after.delete(name);
    else after.set(name, value);
  }
  return Object.fromEntries(after) as Record<string, T>; // sound: pairs of name and value
};

const bounded = <T extends object>(member: "tags" | "properties" | "aliases", map: T): T => {
  const limit = userLimits[member];
  if (Object.keys(map).length > limit) throw invalid(member, `a user has at most ${limit}`, { limit });
  return map;
};

const small = (properties: Record<string, unknown>): Record<string, unknown> => {
  const limit = userLimits.propertyCharacters;
  if (JSON.stringify(properties).length <= limit) return properties;
  throw invalid("properties", `are at most ${limit} characters of JSON in all`, { limit });
};

const members = {
  external_id: "external_id",
  language: "language",
  time_zone: "timezone",
  country: "country",
  location: "location",
  amount_spent: "amount_spent",
  session_time: "session_time",
} as const;
const mostNames = 400; // of one event; beyond them only the map is named

/** What a change gives another value, by the names of the interface: `language`, `tags.plan`. */
const namesOfChanged = (user: UserRow, whole: Partial<UserRow>): string[] => {
  const isNamed = user.changed.length < mostNames;
  return [
    ...Object.entries(members).flatMap(([member, name]) => {
      const key = member as keyof typeof members; // sound: it is one of them
      return whole[key] === undefined || isDeepStrictEqual(whole[key], user[key] ?? null) ? [] : [name];
    }),
    ...(["aliases", "tags", "properties"] as const).flatMap((map) => {
      const names = differing(user[map], whole[map] ?? user[map]);
      return isNamed ? names.map((name) => `${map}.${name}`) : names.slice(0, 1).map(() => map);
    }),
  ];
};

const differing = (before: Readonly<Record<string, unknown>>, after: Readonly<Record<string, unknown>>): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !isDeepStrictEqual(before[name], after[name]),
  );
