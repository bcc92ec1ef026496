import type { ImportedAddress, ImportedPerson } from "#core/domain/imports/row.ts";
import type { ChangedSubscription, ChangedUser } from "#core/storage/imports/people.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { mostOfUser } from "#core/storage/people/subscriptions.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { type AddressDraft, changedAddress, isMadeBy, newAddress, withAddress } from "./address.ts";
import type { BatchResult, BatchRow, ImportBatch } from "./import-batch.ts";
import { addressKey, type Known } from "./known.ts";
import { changedUser, countedAs, knownPerson, madeUser, newPerson, type PersonDraft, withRow } from "./person.ts";

/** What a batch writes, and what it comes to. */
export type Plan = {
  users: { made: UserRow[]; changed: ChangedUser[] };
  subscriptions: { made: SubscriptionRow[]; changed: ChangedSubscription[] };
  /** Those whose rows say that they want nothing. */
  optedOut: SubscriptionRow[];
  result: BatchResult;
};

/** Decides what becomes of the rows of a batch, given what the app has. */
export const planBatch = (batch: ImportBatch, known: Known, rows: readonly BatchRow[]): Plan => {
  const drafts: Drafts = { people: new Map(), addresses: new Map(), left: batch.left };
  const refused: number[] = [];
  const findings: BatchResult["findings"] = [];
  const stats = { ...noStats, processed: rows.length };
  const find = ({ line, csv }: BatchRow, error: string): void => void findings.push({ line, error, csv });
  for (const row of inOrder(rows)) {
    const { imported } = row;
    const error = imported.kind === "faulty" ? imported.error : take(batch, known, drafts, imported);
    if (error !== null) {
      stats.errors++;
      find(row, error);
      if (error === exhausted) refused.push(row.line);
      continue;
    }
    if (imported.kind === "faulty") continue;
    if (imported.person?.externalId === null) stats.anonymous++;
    if (imported.skipped !== null) stats.skipped++;
    if (imported.notes.length > 0) stats.warnings++;
    const said = [...(imported.skipped === null ? [] : [imported.skipped]), ...imported.notes];
    if (said.length > 0) find(row, said.join("; "));
  }
  findings.sort((a, b) => a.line - b.line);
  const written = writesOf(batch, drafts);
  return { ...written, result: { stats: counted(batch, drafts, stats), findings, refused, left: drafts.left } };
};

export const noStats: BatchResult["stats"] = {
  processed: 0,
  created_users: 0,
  updated_users: 0,
  created_subscriptions: 0,
  skipped: 0,
  errors: 0,
  warnings: 0,
  anonymous: 0,
};

/** Users by their ids, addresses by {@link addressKey}, and how many more the plan admits. */
type Drafts = { people: Map<string, PersonDraft>; addresses: Map<string, AddressDraft>; left: number | null };

/** Rows with an external id first: an anonymous one with the same address is theirs. Then in the order of activity. */
const inOrder = (rows: readonly BatchRow[]): BatchRow[] =>
  rows.toSorted((a, b) => rankOf(a) - rankOf(b) || activityOf(a) - activityOf(b));

const personIn = ({ imported }: BatchRow): ImportedPerson | null => (imported.kind === "row" ? imported.person : null);
const rankOf = (row: BatchRow): number => (personIn(row)?.externalId === null ? 1 : 0);
const activityOf = (row: BatchRow): number => personIn(row)?.lastActiveAt?.getTime() ?? 0;

const exhausted = "the plan's subscribers are exhausted";

type Taken = { person: ImportedPerson | null; address: ImportedAddress | null };

/** Drafts what a row says; what is wrong with it, and nothing drafted, when it cannot be taken. */
const take = (batch: ImportBatch, known: Known, drafts: Drafts, { person, address }: Taken): string | null => {
  if (person === null) return null;
  const before = address === null ? null : addressBefore(known, drafts, address);
  const owner = ownerOf(batch, known, drafts, { person, address, before });
  const merged = withRow(batch, owner, person);
  if (typeof merged === "string") return merged;
  if (address === null) {
    drafts.people.set(merged.now._id, merged);
    return null;
  }
  const isGained = before?.now.user_id !== merged.now._id;
  if (isGained && merged.owned >= mostOfUser) return `a user has at most ${mostOfUser} subscriptions`;
  const from = before ?? newAddress(batch, merged, address);
  const placed = withAddress(batch, from, { owner: merged, address, lastActiveAt: person.lastActiveAt });
  const needed = Number(isBillable(placed)) - Number(before !== null && isBillable(before));
  if (drafts.left !== null && needed > drafts.left && needed > 0) return exhausted;
  if (drafts.left !== null) drafts.left -= needed;
  drafts.people.set(merged.now._id, isGained ? { ...merged, owned: merged.owned + 1 } : merged);
  drafts.addresses.set(addressKey(address), placed);
  return null;
};

const isBillable = ({ now }: AddressDraft): boolean => now.status !== "invalid";

const addressBefore = (known: Known, drafts: Drafts, address: ImportedAddress): AddressDraft | null => {
  const read = known.subscriptions.get(addressKey(address));
  return drafts.addresses.get(addressKey(address)) ?? (read === undefined ? null : { read, now: read, isOut: false });
};

type Whose = { person: ImportedPerson; address: ImportedAddress | null; before: AddressDraft | null };

/** Whom a row is about: by its external id, else whoever has its address, else somebody new. */
const ownerOf = (batch: ImportBatch, known: Known, drafts: Drafts, { person, address, before }: Whose): PersonDraft => {
  const { externalId } = person;
  const key =
    externalId === null ? `token:${address === null ? "" : addressKey(address)}` : `external_id:${externalId}`;
  const fresh = newPerson(batch, key, externalId);
  const read =
    externalId === null ? known.users.byId.get(before?.now.user_id ?? "") : known.users.byExternalId.get(externalId);
  const id = read?._id ?? (externalId === null ? before?.now.user_id : undefined) ?? fresh.now._id;
  const draft = drafts.people.get(id);
  if (draft !== undefined) return draft;
  return read === undefined ? fresh : knownPerson(read, known.owned.get(read._id) ?? 0);
};

const writesOf = (batch: ImportBatch, drafts: Drafts): Omit<Plan, "result"> => {
  const users: Plan["users"] = { made: [], changed: [] };
  for (const draft of drafts.people.values()) {
    if (draft.read === null) users.made.push(madeUser(batch, draft));
    else users.changed.push(changedUser(batch, { ...draft, read: draft.read }));
  }
  const subscriptions: Plan["subscriptions"] = { made: [], changed: [] };
  for (const draft of drafts.addresses.values()) {
    const change = changedAddress(batch, draft);
    if (draft.read === null) subscriptions.made.push(draft.now);
    else if (change !== null) subscriptions.changed.push(change);
  }
  const optedOut = [...drafts.addresses.values()].flatMap(({ now, isOut }) => (isOut ? [now] : []));
  return { users, subscriptions, optedOut };
};

const counted = (batch: ImportBatch, drafts: Drafts, stats: BatchResult["stats"]): BatchResult["stats"] => {
  const as = [...drafts.people.values()].map((draft) => countedAs(batch, draft));
  return {
    ...stats,
    created_users: as.filter((one) => one === "created").length,
    updated_users: as.filter((one) => one === "updated").length,
    created_subscriptions: [...drafts.addresses.values()].filter((draft) => isMadeBy(batch, draft)).length,
  };
};
