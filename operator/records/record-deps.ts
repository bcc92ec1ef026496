import { isDeepStrictEqual } from "node:util";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { Kept, ManagedRow, ManagedRows } from "#core/storage/settings/managed.ts";
import type { Verdict } from "../engine/handler.ts";
import type { Store } from "../kube/store.ts";
import type { Claimant, Stand } from "../policies/management.ts";
import type { OwnSecret } from "./own-secret.ts";
import type { Platform } from "./platform.ts";

/** What of a kind and of the platform the records of a kind are written with. */
export type RecordDeps<R extends Claimant, Row extends NamedRow> = Pick<
  Platform,
  "announce" | "clock" | "owners" | "secrets"
> & {
  definition: ResourceDefinition;
  collection: { name: string };
  /** The record in words, e.g. `live activity type`. */
  what: string;
  owner: "tenant" | "app" | null;
  rows: ManagedRows<Row>;
  /** The kind's resources, with the indexes `external` and, where a name is unique, `name`. */
  store: Pick<Store<R>, "by">;
  /** The record that has a unique name; null when it is another unique member that is taken. */
  called?: ((set: Partial<Row>) => Promise<Row | null>) | undefined;
  ownSecret?: OwnSecret<R>;
};

/** `name` is looked at when it is unique. */
export type NamedRow = ManagedRow & { name?: string; app_id?: string };

/** The only stand on which something may be written. */
export type MayWrite<Row> = Extract<Stand<Row>, { kind: "write" }>;

export type Wanted<Row> = {
  set: Partial<Row>;
  /** Members that a new document begins with; later they are others' to change. */
  begin: Partial<Row>;
  /** What the resource's name is in the index `name`, and where else others may claim it. */
  names?: readonly string[];
};

export type Outcome = { kept: Kept } | { verdict: Verdict };

export const isWritten = (kept: Kept): boolean => kept === "created" || kept === "updated";

export const othersIn = <R extends Claimant>(resources: readonly R[], { metadata }: R): R[] =>
  resources.filter((other) => other.metadata.uid !== metadata.uid);

/** The members of a record that are other than wanted. */
export const differences = (row: ManagedRow, set: object): string[] => {
  const before = new Map<string, unknown>(Object.entries(row));
  const differing = Object.entries(set).filter(([member, value]) => !isDeepStrictEqual(before.get(member), value));
  return differing.map(([member]) => member).filter((member) => member !== "channels_revision");
};
