import { defined } from "#core/domain/defined.ts";
import { derivedIdAt } from "#core/domain/ids.ts";
import { mapsProblem } from "#core/domain/imports/members.ts";
import type { ImportedPerson } from "#core/domain/imports/row.ts";
import type { ChangedUser } from "#core/storage/imports/people.ts";
import { blankUser } from "#core/storage/people/made.ts";
import { aliasKey, type ImportedMark, type UserRow } from "#core/storage/people/users.ts";
import type { ImportBatch } from "./import-batch.ts";

/** A user as the rows of a batch make them. */
export type PersonDraft = {
  /** As they were read; null for one who is made. */
  read: UserRow | null;
  now: UserRow;
  /** Of the rows of this batch. */
  sessions: number | undefined;
  /** Their subscriptions, with those that the batch gives them. */
  owned: number;
};

/** Somebody whom the app does not have. `key`: what they are known by, an external id or a token. */
export const newPerson = (batch: ImportBatch, key: string, externalId: string | null): PersonDraft => {
  const id = derivedIdAt("user", batch.idsAt, batch.importId, String(batch.number), key);
  const blank = blankUser(id, batch.of, batch.now);
  const aliases = [`user_id:${id}`, ...(externalId === null ? [] : [aliasKey("external_id", externalId)])];
  return { read: null, now: { ...blank, external_id: externalId, alias_keys: aliases }, sessions: undefined, owned: 0 };
};

export const knownPerson = (read: UserRow, owned: number): PersonDraft => ({
  read,
  now: read,
  sessions: undefined,
  owned,
});

/**
 * A user with what a row says of them; a text when it would pass a bound. Of two rows the one of the later activity wins:
 * a batch's come in that order, and what an earlier batch wrote of a later activity stays.
 */
export const withRow = (batch: ImportBatch, draft: PersonDraft, row: ImportedPerson): PersonDraft | string => {
  const { now: user, read } = draft;
  const isOlder =
    read?.imported?.by === batch.importId && row.lastActiveAt !== undefined && row.lastActiveAt < read.last_active_at;
  const tags = isOlder ? { ...without(row.tags), ...user.tags } : merged(user.tags, row.tags);
  const properties = isOlder
    ? { ...without(row.properties), ...user.properties }
    : merged(user.properties, row.properties);
  const problem = mapsProblem(tags, properties);
  if (problem !== null) return problem;
  const said = isOlder ? {} : defined({ language: row.language, time_zone: row.timeZone });
  const seen = { first_seen_at: firstSeen(draft, row), last_active_at: lastActive(draft, row) };
  const sessions = row.sessions === undefined ? draft.sessions : (draft.sessions ?? 0) + row.sessions;
  return { ...draft, now: { ...user, tags, properties, ...said, ...seen }, sessions };
};

/** Null removes. */
const merged = <T>(before: Readonly<Record<string, T>>, given: Readonly<Record<string, T | null>>): Record<string, T> =>
  without({ ...before, ...given });

const without = <T>(map: Readonly<Record<string, T | null>>): Record<string, T> =>
  Object.fromEntries(Object.entries(map).filter((entry): entry is [string, T] => entry[1] !== null));

/** A user who is made was seen first when a row says so; the earliest of all rows counts. */
const firstSeen = ({ read, now: user }: PersonDraft, { firstSeenAt, lastActiveAt }: ImportedPerson): Date => {
  const said = firstSeenAt ?? lastActiveAt;
  if (said === undefined) return user.first_seen_at;
  const isFirst = read === null && user.first_seen_at.getTime() === user.created_at.getTime();
  return isFirst || said < user.first_seen_at ? said : user.first_seen_at;
};

const lastActive = ({ read, now: user }: PersonDraft, { lastActiveAt }: ImportedPerson): Date => {
  if (lastActiveAt === undefined) return user.last_active_at;
  const isFirst = read === null && user.last_active_at.getTime() === user.created_at.getTime();
  return isFirst || lastActiveAt > user.last_active_at ? lastActiveAt : user.last_active_at;
};

/** The document of a user who is made. */
export const madeUser = (batch: ImportBatch, { now: user, sessions }: PersonDraft): UserRow => ({
  ...user,
  ...(sessions !== undefined && { session_count: sessions }),
  imported: { by: batch.importId, first: batch.number, last: batch.number, sessions: sessions ?? 0, isMade: true },
});

/** The change of a user who is there: safe to make twice. */
export const changedUser = (
  batch: ImportBatch,
  { read, now: user, sessions }: PersonDraft & { read: UserRow },
): ChangedUser => {
  const { tags, properties, language, time_zone, first_seen_at, last_active_at } = user;
  const imported = markOf(batch, read.imported, sessions ?? 0);
  const count = sessions === undefined ? {} : { session_count: Math.max(read.session_count ?? 0, imported.sessions) };
  const said = { tags, properties, language, time_zone, first_seen_at, last_active_at, ...count };
  return { read, set: { ...said, imported, updated_at: batch.now } };
};

const markOf = (
  { importId: by, number }: ImportBatch,
  before: ImportedMark | undefined,
  sessions: number,
): ImportedMark => {
  if (before?.by !== by) return { by, first: number, last: number, sessions, isMade: false };
  if (before.last >= number) return before; // an earlier attempt at this batch has added them
  return { ...before, last: number, sessions: before.sessions + sessions };
};

/** As what the batch counts a user: once in an import, whichever attempt at the batch it is. */
export const countedAs = (
  { importId, number }: ImportBatch,
  { read }: PersonDraft,
): "created" | "updated" | "before" => {
  if (read === null) return "created";
  const mark = read.imported;
  if (mark?.by !== importId) return "updated";
  if (mark.first < number) return "before";
  return mark.isMade ? "created" : "updated";
};
