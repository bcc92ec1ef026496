import type { Clock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import { personKey } from "#core/domain/people/keys.ts";
import { AppError, invalid } from "#core/errors.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import { joined, type Merges } from "#core/storage/people/merge.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { SubjectOf } from "#core/storage/suppressions/keys.ts";
import { type SuppressionRow, type Suppressions, suppressionRow } from "#core/storage/suppressions/suppressions.ts";

export type MergeUsersDeps = {
  merges: Pick<Merges, "merge">;
  subscriptions: Pick<Subscriptions, "ofUser">;
  suppressions: Pick<Suppressions, "page" | "put">;
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  remove: (row: SubscriptionRow) => Promise<void>;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (user: UserRow) => void;
  clock: Clock;
};

/**
 * Makes a user part of another one. What can be refused is, before anything is changed. Source: docs/reference/people.md#merging.
 * @throws ValidationError for a user and themselves; AppError HS_CONFLICT when both together would pass a bound of one user
 */
export const mergeUsers =
  (deps: MergeUsersDeps) =>
  async (source: UserRow, target: UserRow, signal: AbortSignal): Promise<UserRow> => {
    const { merges, subscriptions, remove, publish, clock } = deps;
    if (source._id === target._id) throw invalid("into", "is the same user");
    requireBounds(source, target);
    const owned = await Promise.all([source, target].map((user) => subscriptions.ofUser(ofRow(user), user._id)));
    const displaced = displacedOf(owned.flat());
    await carrySuppressions(deps, source, target, signal);
    for (const row of displaced) await remove(row);
    const user = await merges.merge(source, target._id, clock.now());
    publish(user);
    return user;
  };

const mostLed = 200; // ids that lead to one user since merges

const requireBounds = (source: UserRow, target: UserRow): void => {
  const both = joined(target, source);
  const sizes = [
    ["aliases", Object.keys(both.aliases).length, userLimits.aliases],
    ["tags", Object.keys(both.tags).length, userLimits.tags],
    ["properties", Object.keys(both.properties).length, userLimits.properties],
    ["properties", JSON.stringify(both.properties).length, userLimits.propertyCharacters],
    ["merged ids", both.merged_keys.length, mostLed],
  ] as const;
  for (const [what, size, limit] of sizes)
    if (size > limit) throw full(`both together would have more ${what} than a user may have`, limit);
};

const full = (message: string, limit: number): AppError =>
  new AppError("HS_CONFLICT", message, { status: "full", limit });

/** The invalid subscriptions that make room, those first that were least recently active. */
const displacedOf = (all: readonly SubscriptionRow[]): SubscriptionRow[] => {
  const limit = userLimits.subscriptions;
  const excess = Math.max(all.length - limit, 0);
  const invalid = all.filter(({ status }) => status === "invalid");
  if (invalid.length < excess) throw full(`both together would have more than ${limit} subscriptions`, limit);
  return invalid.toSorted((a, b) => a.last_active_at.getTime() - b.last_active_at.getTime()).slice(0, excess);
};

/** What suppresses a user suppresses the other one, too: their devices bear that one's ids from now on. */
const carrySuppressions = async (
  { suppressions, subjectsOf, clock }: MergeUsersDeps,
  source: UserRow,
  target: UserRow,
  signal: AbortSignal,
): Promise<void> => {
  const of = { tenantId: source.tenant_id, appId: source.app_id };
  const [subjectOf, now] = [await subjectsOf(of), clock.now()];
  for (const { from, to, key, externalId } of carriedKeys(source, target)) {
    const place = { isDescending: false, after: null, limit: mostEntries };
    const { rows } = await suppressions.page(of, { subject: subjectOf(from) }, place, { now, signal });
    const about = { subject: subjectOf(to), key, address: null, externalId, userId: target._id };
    const carried = rows.map((row) =>
      suppressionRow(of, {
        id: derivedId("suppression", row._id, target._id),
        about: { ...about, channel: row.channel },
        said: saidIn(row),
        at: now,
      }),
    );
    if (carried.length > 0) await suppressions.put(carried, now);
  }
};

const saidIn = ({ reason, source, note, categories, expires_at }: SuppressionRow) => ({
  reason,
  source,
  note,
  categories,
  expires_at,
  beside_status: null,
});

/** By what entries are about a user, and about the one whom they become part of. */
const carriedKeys = (source: UserRow, target: UserRow) => {
  const [from, to] = [source.external_id, target.external_id];
  const both = [
    { from: personKey("user_id", source._id), to: personKey("user_id", target._id), key: target._id, externalId: null },
  ];
  if (from === null || to === null) return both; // the other one gets the id, and what suppresses it
  const key = personKey("external_id", to);
  return [...both, { from: personKey("external_id", from), to: key, key, externalId: to }];
};

const mostEntries = 50; // of one subject: one for each channel, and one for all
