import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/mongo/collection.ts";
import { type ManagedRows, managedRows } from "#core/storage/settings/managed.ts";
import type { Handler } from "../engine/handler.ts";
import { beside, indexesOf, type Linked } from "../engine/links.ts";
import { unlessUnchanged } from "../engine/unchanged.ts";
import type { Indexes, Store } from "../kube/store.ts";
import type { Claimant } from "../policies/management.ts";
import type { OwnSecret } from "./own-secret.ts";
import type { Base, Platform } from "./platform.ts";
import { type Records, records } from "./record.ts";
import { type NamedRow } from "./record-deps.ts";

/**
 * All that the operator has to know of a kind. Its store, controller, permissions, sweep and documentation follow from
 * its line in kinds/all.ts.
 */
export type KindDeclaration<R extends Claimant, Row extends NamedRow> = Pick<
  Linked<R>,
  "definition" | "links" | "indexes" | "readsConfigMaps" | "isRecordReported"
> & {
  /** The record that a resource stands for, in words, e.g. `live activity type`. */
  what: string;
  /** Where its records are, and what they belong to. */
  collection: CollectionSpec;
  /** How its records are found and written, when not just by their ids. */
  rows?: (platform: Platform) => ManagedRows<Row>;
  /** The record that has what is unique of another. */
  called?: (platform: Platform, set: Partial<Row>) => Promise<Row | null>;
  /** Its records are removed with their owner. Not declared: while there are some, the owner cannot be removed. */
  goesWithOwner?: GoesWithOwner;
  /** The Secret that a resource writes. */
  ownSecret?: OwnSecret<R>;
  /** Names of the Secrets beside a resource that a pass reads. */
  readsSecrets?: (resource: R) => readonly string[];
  /**
   * Everything that decides a pass besides the resource, its Secrets and the time: documents, mostly. While none of it
   * has changed no pass is made (docs/decisions/0052). Not declared: every pass is made in full.
   */
  inputs?: (tools: Tools<R, Row>) => (resource: R) => Promise<readonly unknown[]>;
  handler: (tools: Tools<R, Row>) => Handler<R>;
};

export type GoesWithOwner = {
  /** The index of the collection in which an owner's records are found. */
  index: string;
  /** What is done with the ids of some records before they are removed. */
  before?: (platform: Base, ids: readonly string[]) => Promise<void>;
};

/** What a kind's handler works with: the platform, and what the kind itself has. */
export type Tools<R extends Claimant, Row extends NamedRow> = Platform & {
  store: Store<R>;
  rows: ManagedRows<Row>;
  record: Records<R, Row>;
};

/** A kind as everything sees it that iterates over kinds/all.ts. */
export type Kind = Linked &
  Pick<KindDeclaration<Claimant, NamedRow>, "collection" | "goesWithOwner"> & {
    indexes: Indexes<Claimant>;
    handler: (platform: Platform) => Handler<Claimant>;
  };

export const defineKind = <R extends Claimant, Row extends NamedRow>(declared: KindDeclaration<R, Row>): Kind => {
  const { readsSecrets = () => [], ownSecret } = declared;
  const secrets = (resource: R): readonly string[] => [
    ...(ownSecret === undefined ? [] : [ownSecret.nameOf(resource)]),
    ...readsSecrets(resource),
  ];
  const linked: Linked<R> = { ...declared, secrets };
  const kind = {
    ...linked,
    indexes: indexesOf(linked),
    handler: (platform: Platform) => handlerOf(declared, secrets, platform),
  };
  return kind as unknown as Kind; // sound: a kind is given no other objects than its own
};

const handlerOf = <R extends Claimant, Row extends NamedRow>(
  declared: KindDeclaration<R, Row>,
  secretsOf: (resource: R) => readonly string[],
  platform: Platform,
): Handler<R> => {
  const { definition, collection, inputs } = declared;
  const { db, fence, stores, clock } = platform;
  const store = stores.ofKind(definition.kind) as unknown as Store<R>; // sound: the store of this definition's kind holds nothing else
  const rows = declared.rows?.(platform) ?? managedRows(collectionOf<Row>(db, collection), fence);
  const called = async (set: Partial<Row>) => (await declared.called?.(platform, set)) ?? null;
  const record = records<R, Row>({ ...platform, ...declared, store, rows, called });
  const tools = { ...platform, store, rows, record };
  const handler = declared.handler(tools);
  if (inputs === undefined) return handler;
  const read = inputs(tools);
  const versions = (resource: R) =>
    secretsOf(resource).map((name) => versionOf(stores.secrets.get(beside(resource, name))));
  return unlessUnchanged(handler, {
    inputsOf: async (resource) => [versions(resource), ...(await read(resource))],
    clock,
  });
};

const versionOf = (secret: KubeObject | undefined): readonly string[] | null =>
  secret === undefined ? null : [secret.metadata.uid, secret.metadata.resourceVersion];
