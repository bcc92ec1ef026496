import type { Collection, Db, Document, IndexDescription } from "mongodb";
import type { OnPage } from "./pages.ts";

/**
 * What a collection is, and what becomes of its documents: the removal of apps, the erasure of people, the end of a
 * suspension and the tests follow from it. It stands in the file of its repository and in core/storage/collections.ts.
 */
export type CollectionSpec = {
  name: string;
  /** The indexes that its queries need. */
  indexes: readonly IndexDescription[];
  /** Names of indexes that an earlier release needed and that would be in the way: they are dropped. */
  former?: readonly string[];
  /** Whose its documents are, and the member that names the owner. */
  owner:
    | { kind: "tenant" | "app" | "user" | "subscription" | "message" | "webhook"; member: string }
    | { kind: "installation" };
  appRemoval: AppRemoval;
  erasure: Erasure;
  retention: Retention;
};

/** They stay, and why. */
export type Stays = { kept: string };

/**
 * What becomes of the documents of an app that is removed. `index`: those with its `app_id` are removed, found by this
 * index. `with`: they go with the documents of that collection. `remove` may run twice; it returns how many documents must wait for a later call, and throws what `onPage`
 * throws.
 */
export type AppRemoval =
  | { index: string }
  | { with: string }
  | { remove: (db: Db, app: { appId: string; now: Date }, onPage?: OnPage) => Promise<number> }
  | Stays;

/**
 * What becomes of the documents about a person who is deleted. `member`: those in which it is the person's id are
 * removed. `subscription`: those in which it is the id of a subscription of theirs. `erase` takes the person out of them;
 * it is as `remove` of {@link AppRemoval}. `with`: the `erase` of that collection goes through them, too.
 */
export type Erasure = { member: string } | { subscription: string } | { erase: Erase } | { with: string } | Stays;

export type Erase = (db: Db, person: Person, onPage?: OnPage) => Promise<number>;

/** Whose documents are meant: nothing of another app is ever found. */
export type OfApp = { tenantId: string; appId: string };

/** An app as repositories are given it, first of all: their queries name its tenant. */
export const ofApp = ({ tenant_id, _id }: { tenant_id: string; _id: string }): OfApp => ({
  tenantId: tenant_id,
  appId: _id,
});

/** The same for the app that a document belongs to. */
export const ofRow = ({ tenant_id, app_id }: { tenant_id: string; app_id: string }): OfApp => ({
  tenantId: tenant_id,
  appId: app_id,
});

/** Somebody who is deleted. */
export type Person = OfApp & {
  userId: string;
  /** By which they are found in events: their id, and `<label>:<id>` for ids of the app. */
  keys: ReadonlySet<string>;
  /** When they were deleted. */
  at: Date;
  /** Whether no later pass needs to find again what this one erases. */
  isLast: boolean;
  /** Whether they are erased, not only deleted: then also from messages and deliveries. */
  isErased: boolean;
};

/**
 * When documents go by themselves. `index`: the store removes them after the time that this index says. `plan`: as long
 * after their end as their plan keeps messages, found by this index. `with`: as in {@link AppRemoval}.
 */
export type Retention = { index: string } | { plan: string } | { with: string } | Stays;

/** Earlier than any instant of ours: a lower bound, because a partial index is only used for a two-sided range. */
export const longAgo = new Date(0);

/** Later than any instant of ours: the upper bound. */
export const farAhead = new Date("9999-12-31T23:59:59Z");

export const collectionOf = <Row extends Document>(db: Db, spec: Pick<CollectionSpec, "name">): Collection<Row> =>
  db.collection<Row>(spec.name);
