import { isDeepStrictEqual } from "node:util";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import {
  differingMembers,
  type ManagedRow,
  type RecordWrite,
  type WriteResult,
} from "#core/storage/settings/managed.ts";
import { rememberChange } from "#core/storage/work/intended-changes.ts";
import { refusal, type Verdict } from "../engine/handler.ts";
import { type Finding, refused, waiting } from "../policies/conditions.ts";
import {
  type Claimant,
  claimOf,
  hasConsent,
  idOf,
  isClaiming,
  nameOf,
  notConfirmed,
  olderThan,
} from "../policies/management.ts";
import { memberName } from "../policies/member-names.ts";
import { audited } from "./audited.ts";
import type { MayWrite, NamedRow, RecordDeps } from "./record-deps.ts";

export type DesiredRow<Row> = {
  set: Partial<Row>;
  /** Members that a new document begins with; later they are others' to change. */
  begin: Partial<Row>;
  /** What the resource's name is in the index `name`, and where else others may claim it. */
  names?: readonly string[];
  /** The members that the resource names, by their paths, of a kind that owns by member; left out: it owns them all. */
  members?: readonly string[];
};

type Outcome = { kept: WriteResult } | { verdict: Verdict };

export const writing = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => {
  const { definition, what, store } = deps;

  /**
   * Why a record must not be written as `set` says, although the stand would let it: nobody consents, or an older
   * resource asks for the same name.
   */
  const problem = (
    resource: R,
    { row, isConfirmed }: MayWrite<Row>,
    { set, names = [], members }: Omit<DesiredRow<Row>, "begin">,
  ): Verdict | null => {
    if (row !== null && !isConfirmed)
      return refusal(notConfirmed({ id: row._id, what }, differences(definition, row, set)));
    const taken = row === null || members === undefined ? [] : takenOver(row, set, members);
    if (row !== null && taken.length > 0 && !hasConsent(resource, row._id))
      return refusal(
        notConfirmed(
          { id: row._id, what },
          taken.map((member) => memberName(definition, member)),
        ),
      );
    if (row?.name !== undefined && row.name === set.name) return null; // who has a name keeps it
    const named = names.flatMap((name) => store.by("name", name));
    const winner = olderThan(resource, othersIn(named, resource).filter(isNaming));
    return winner === null ? null : again(nameTaken(what, nameOf(claimOf(definition, winner))));
  };

  /** Says who has the unique member that the record was to get. */
  const conflict = async (resource: R, set: Partial<Row>): Promise<Finding> => {
    const holder = await deps.called(set);
    if (holder === null || holder._id === idOf(definition, resource)) {
      return waiting("Busy", "what it asks for is about to be let go of by another");
    }
    const holderName = holder.managed && nameOf(holder.managed);
    const isFormer = holderName === nameOf(claimOf(definition, resource)); // a former resource of this name, which is gone
    if (holderName !== null && !isFormer) return nameTaken(what, holderName);
    const message = `the ${what} ${holder._id}, which is no resource's, has this name; spec.externalName takes it over`;
    return refused("NameTaken", message);
  };

  /** Writes the record as wanted, or says why not. */
  const keep = async (resource: R, stand: MayWrite<Row>, wanted: DesiredRow<Row>): Promise<Outcome> => {
    const verdict = problem(resource, stand, wanted);
    if (verdict !== null) return { verdict };
    const id = idOf(definition, resource);
    const { set, begin, members } = wanted;
    const managed = { ...claimOf(definition, resource), ...(members !== undefined && { members: [...members] }) };
    const write = { id, found: stand.row, managed, set, begin };
    const kept = await keepAudited(deps, resource, write);
    const apps = new Set([stand.row?.app_id ?? set.app_id, set.app_id]); // two, when the record was another app's
    if (isWritten(kept)) for (const appId of apps) deps.announce(deps.collection.name, id, appId);
    return kept === "taken" ? { verdict: again(await conflict(resource, set)) } : { kept };
  };

  return { problem, keep };
};

/** Writes a record, and has what changes in it reported. */
const keepAudited = <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  resource: R,
  write: RecordWrite<Row>,
): Promise<WriteResult> => {
  const { id, found, set, begin } = write;
  if (found !== null && differingMembers(found, set).length === 0) return deps.rows.keep(write, deps.clock.now());
  const after = found === null ? { ...begin, ...set } : set;
  return audited(deps)(
    resource,
    { id, kind: found === null ? "made" : "changed", before: found, after },
    (changeId) => {
      const more = changeId === null ? {} : rememberChange(found ?? {}, changeId);
      return deps.rows.keep({ ...write, set: { ...set, ...more } }, deps.clock.now());
    },
    isWritten,
  );
};

/** The members that a resource names anew, although somebody has given them another value over the REST interface. */
const takenOver = (row: ManagedRow, set: object, members: readonly string[]): string[] => {
  const owned = row.managed?.members;
  if (owned === undefined) return [];
  return members.filter((member) => {
    if (!((member.split(".")[0] ?? "") in set)) return false; // another write gives it its value
    const [before, after] = [valueAt(row, member), valueAt(set, member)];
    return !owned.includes(member) && before !== null && !isDeepStrictEqual(before, after);
  });
};

/** What stands at a path such as `channels.email`; null when nothing does. */
const valueAt = (of: object, path: string): unknown =>
  path.split(".").reduce((at: unknown, name) => (isObject(at) ? (at[name] ?? null) : null), of);

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

export const isWritten = (kept: WriteResult): boolean => kept === "created" || kept === "updated";

export const othersIn = <R extends Claimant>(resources: readonly R[], { metadata }: R): R[] =>
  resources.filter((other) => other.metadata.uid !== metadata.uid);

/** The members of a record that are other than wanted, as the resource calls them. */
export const differences = (definition: ResourceDefinition, row: ManagedRow, set: object): string[] =>
  differingMembers(row, set)
    .map(([member]) => member)
    .filter((member) => !derived.has(member))
    .map((member) => memberName(definition, member));

/** What follows from other members of a record. */
const derived: ReadonlySet<string> = new Set(["channels_revision", "names", "version", "published_version", "uses"]);

/** Whether a resource claims its name. With CreateOnly it does so only until its record is made. */
const isNaming = (resource: Claimant): boolean =>
  isClaiming(resource) && !(resource.spec.managementPolicy === "CreateOnly" && resource.status?.id !== undefined);

const nameTaken = (what: string, by: string): Finding => refused("NameTaken", `the ${what} of the ${by} has this name`);

/** Looked at again soon: the operator does not hear when a record of the REST interface releases the name. */
const again = (ready: Finding): Verdict => refusal(ready, 5_000);
