import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import type { ManagedRow, ManagedRows } from "#core/storage/settings/managed.ts";
import type { Changeable } from "#core/storage/work/intended-changes.ts";
import type { Store } from "../kube/store.ts";
import type { Claimant, Stand } from "../policies/management.ts";
import type { OwnSecret } from "./own-secret.ts";
import type { Platform } from "./platform.ts";

/** What of a kind and of the platform the records of a kind are written with. */
export type RecordDeps<R extends Claimant, Row extends NamedRow> = Pick<
  Platform,
  "announce" | "clock" | "db" | "owners" | "secrets"
> & {
  definition: ResourceDefinition;
  collection: Pick<CollectionSpec, "name" | "owner">;
  /** The record in words, e.g. `live activity type`. */
  what: string;
  rows: ManagedRows<Row>;
  /** The kind's resources, with the indexes `external` and, where a name is unique, `name`. */
  store: Pick<Store<R>, "by" | "get">;
  /** The record that has the unique name; null when the kind has none, or another unique member is taken. */
  called: (set: Partial<Row>) => Promise<Row | null>;
  ownSecret?: OwnSecret<R>;
};

/** `name` is looked at when it is unique. */
export type NamedRow = ManagedRow & Changeable & { name?: string; app_id?: string };

/** The only stand on which something may be written. */
export type MayWrite<Row> = Extract<Stand<Row>, { kind: "write" }>;

/** Which records a resource may reach, and which other resources may ask for the same; by itself all of them. */
export type Place<R, Row> = { isReachable?: (row: Row) => boolean; isPeer?: (other: R) => boolean };
