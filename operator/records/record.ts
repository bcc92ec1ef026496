import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { CollectionSpec } from "#core/storage/mongo/collection.ts";
import type { Kept, ManagedRow, ManagedRows } from "#core/storage/settings/managed.ts";
import type { Verdict } from "../engine/handler.ts";
import type { Store } from "../kube/store.ts";
import { asWanted, type Claimant, idOf, type Stand } from "../policies/management.ts";
import { dropping } from "./drops.ts";
import { looking } from "./looks.ts";
import type { OwnSecret } from "./own-secret.ts";
import type { Platform } from "./platform.ts";
import { writing } from "./writes.ts";

/** What of a kind and of the platform the records of a kind are written with. */
export type RecordDeps<R extends Claimant, Row extends NamedRow> = Pick<
  Platform,
  "announce" | "clock" | "owners" | "secrets"
> & {
  definition: ResourceDefinition;
  collection: Pick<CollectionSpec, "name" | "owner">;
  /** The record in words, e.g. `live activity type`. */
  what: string;
  rows: ManagedRows<Row>;
  /** The kind's resources, with the indexes `external` and, where a name is unique, `name`. */
  store: Pick<Store<R>, "by">;
  /** The record that has the unique name; null when the kind has none, or another unique member is taken. */
  called: (set: Partial<Row>) => Promise<Row | null>;
  ownSecret?: OwnSecret<R>;
};

/** `name` is looked at when it is unique. */
export type NamedRow = ManagedRow & { name?: string; app_id?: string };

/** The only stand on which something may be written. */
export type MayWrite<Row> = Extract<Stand<Row>, { kind: "write" }>;

/** The records of one kind, as the policies of its resources let them be written. */
export const records = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => ({
  /** The id of the record that a resource stands for. */
  idOf: (resource: R): string => idOf(deps.definition, resource),
  ...looking(deps),
  ...writing(deps),
  /** The verdict on a record that is as wanted. */
  kept: (resource: R, { kept }: { kept: Kept }, status: Record<string, unknown>): Verdict => ({
    ready: asWanted(resource, deps.what),
    status: { id: idOf(deps.definition, resource), ...status },
    isChanged: kept !== "unchanged",
  }),
  ...dropping(deps),
});

export type Records<R extends Claimant, Row extends NamedRow> = ReturnType<typeof records<R, Row>>;
