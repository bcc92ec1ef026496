import type { Clock } from "#core/domain/clock.ts";
import { derivedIdAt, newId } from "#core/domain/ids.ts";
import { suppressionView } from "#core/domain/suppressions/views.ts";
import { invalid } from "#core/errors.ts";
import type {
  CreateSuppression,
  Suppression,
  SuppressionEntry,
  SuppressionsAdded,
} from "#core/schema/suppressions/suppression.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Targets } from "#core/storage/messages/targets.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { SubjectOf } from "#core/storage/suppressions/keys.ts";
import { type SuppressionRow, type Suppressions, suppressionRow } from "#core/storage/suppressions/suppressions.ts";
import type { Attempt } from "../http/route.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";
import { type About, aboutOf } from "./checks.ts";

export type AddDeps = {
  suppressions: Pick<Suppressions, "put" | "newOf" | "counts">;
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  subscriptions: Pick<Subscriptions, "ownersOf">;
  targets: Pick<Targets, "byAlias">;
  clock: Clock;
};

/** `limit`: entries of the app at most; null: no limit. */
export type AddRequest = { app: AppRow; limit: number | null; once: Attempt["once"] | null };

/** `isNew`: nobody had suppressed the same before. */
export type Added = { shown: Suppression; isNew: boolean } | { shown: SuppressionsAdded };

/**
 * Adds one entry, or up to 1,000 in a bounded number of commands. What is there already is raised to the stronger reason,
 * never lowered. Of several, those that are wrong stop no other. Its form is checked by checkForm. Source: docs/reference/suppressions.md#adding.
 * @throws ValidationError for one entry that is wrong; AppError HS_CONFLICT, HS_QUOTA_EXCEEDED
 */
export const addSuppressions =
  (deps: AddDeps) =>
  async ({ app, limit, once }: AddRequest, { entries, ...single }: CreateSuppression): Promise<Added> => {
    const now = deps.clock.now();
    const request = { app, limit, now, madeAt: once?.begunAt ?? now, once };
    if (entries !== undefined) return { shown: await addAll(deps, request, entries) };
    const about = aboutOf(single, now);
    if ("field" in about) throw invalid(about.field, about.message);
    const id = idOf(request, 0);
    const [row] = await store(deps, request, [{ entry: single, id, about }]);
    if (row === undefined) throw new Error(`the entry ${id} was stored and is not given back`);
    return { shown: suppressionView(row), isNew: row._id === id };
  };

/** A request that is made again makes entries of the same ids and instant; an id has the instant of its entry. */
type Request = AddRequest & { now: Date; madeAt: Date };

const idOf = ({ madeAt, once }: Request, index: number): string =>
  once === null ? newId("suppression", madeAt) : derivedIdAt("suppression", madeAt, once.id, String(index));

/** An entry that is right. */
type Judged = { entry: SuppressionEntry; id: string; about: About };

const addAll = async (
  deps: AddDeps,
  request: Request,
  entries: readonly SuppressionEntry[],
): Promise<SuppressionsAdded> => {
  const right: Judged[] = [];
  const errors: SuppressionsAdded["errors"] = [];
  for (const [index, entry] of entries.entries()) {
    const about = aboutOf(entry, request.now);
    if ("field" in about) errors.push({ index, ...about });
    else right.push({ entry, id: idOf(request, index), about });
  }
  const stored = await store(deps, request, right);
  const created = right.filter(({ id }, i) => stored[i]?._id === id).length;
  return { created, existing: right.length - created, errors };
};

const store = async (
  deps: AddDeps,
  { app, limit, now, madeAt }: Request,
  judged: readonly Judged[],
): Promise<SuppressionRow[]> => {
  if (judged.length === 0) return [];
  const of = ofApp(app);
  const abouts = judged.map(({ about }) => about);
  const [subjectOf, owners] = await Promise.all([deps.subjectsOf(of), ownersOf(deps, of, abouts)]);
  const rows = judged.map(({ about, ...rest }) => {
    const userId = owners.get(ownerKey(about)) ?? null;
    return rowOf(of, { about, ...rest }, { subject: subjectOf(about.key), userId, madeAt });
  });
  if (limit !== null) await requireWithinBound(deps, of, { rows, limit, now });
  return deps.suppressions.put(rows, now);
};

/** Refuses all of them when there is no room for those that are new. Source: docs/reference/suppressions.md#bound. */
const requireWithinBound = async (
  { suppressions }: AddDeps,
  of: OfApp,
  { rows, limit, now }: { rows: readonly SuppressionRow[]; limit: number; now: Date },
): Promise<void> => {
  const used = await suppressions.counts.used(of, { wanted: rows.length, limit }, now);
  if (used + rows.length <= limit) return;
  const needed = await suppressions.newOf(rows, now);
  if (needed === 0 || used + needed <= limit) return;
  throw quotaExceeded("the plan's suppressions are exhausted", { metric: "suppressions", limit, used, needed });
};

/** Ids of the users that entries are about, as far as they are known. */
const ownersOf = async (
  { subscriptions, targets }: AddDeps,
  of: OfApp,
  abouts: readonly About[],
): Promise<ReadonlyMap<string, string>> => {
  const users = abouts.filter((about) => about.kind === "user").map(({ key }) => key);
  const addresses = Map.groupBy(
    abouts.filter((about) => about.kind === "address"),
    ({ channel }) => channel,
  );
  const [aliased, ...owned] = await Promise.all([
    targets.byAlias(of, [...new Set(users)]),
    ...[...addresses].map(async ([channel, group]) => {
      const tokens = [...new Set(group.map(({ address }) => address))];
      return { channel, byToken: await subscriptions.ownersOf(of, channel, tokens) };
    }),
  ]);
  return new Map([
    ...aliased.flatMap(({ _id, alias_keys: keys }) => keys.map((key) => [key, _id] as const)),
    ...owned.flatMap(({ channel, byToken }) => [...byToken].map(([token, id]) => [`${channel} ${token}`, id] as const)),
  ]);
};

const ownerKey = (about: About): string => (about.kind === "user" ? about.key : `${about.channel} ${about.address}`);

const rowOf = (
  of: OfApp,
  { entry, id, about }: Judged,
  { subject, userId, madeAt }: { subject: string; userId: string | null; madeAt: Date },
): SuppressionRow => {
  const { channel, key } = about;
  const address = about.kind === "address" ? about.address : null;
  const externalId = about.kind === "user" ? about.externalId : null;
  const said = {
    reason: entry.reason ?? ("manual" as const),
    source: "api" as const,
    categories: entry.categories === undefined ? null : [...new Set(entry.categories)],
    note: entry.note ?? null,
    expires_at: entry.expires_at === undefined ? null : new Date(entry.expires_at),
  };
  return suppressionRow(of, { id, about: { channel, subject, key, address, externalId, userId }, said, at: madeAt });
};
