import { refusal, type Verdict } from "../engine/handler.ts";
import { type Finding, refused, waiting } from "../policies/conditions.ts";
import { type Claimant, claimOf, idOf, isClaiming, nameOf, notConfirmed, olderThan } from "../policies/management.ts";
import {
  differences,
  isWritten,
  type MayWrite,
  type NamedRow,
  type Outcome,
  othersIn,
  type RecordDeps,
  type Wanted,
} from "./record-deps.ts";

/** Writes a record as wanted, or says why not. */
export const keep = async <R extends Claimant, Row extends NamedRow>(
  deps: RecordDeps<R, Row>,
  resource: R,
  stand: MayWrite<Row>,
  wanted: Wanted<Row>,
): Promise<Outcome> => {
  const verdict = problem(deps, resource, stand, wanted);
  if (verdict !== null) return { verdict };
  const id = idOf(deps.definition, resource);
  const { set, begin } = wanted;
  const write = { id, found: stand.row, managed: claimOf(deps.definition, resource), set, begin };
  const kept = await deps.rows.keep(write, deps.clock.now());
  const apps = new Set([stand.row?.app_id ?? set.app_id, set.app_id]); // two, when the record was another app's
  if (isWritten(kept)) for (const appId of apps) deps.announce(deps.collection.name, id, appId);
  return kept === "taken" ? { verdict: again(await conflict(deps, resource, set)) } : { kept };
};

/** Why a record must not be written: nobody consents, or an older resource asks for the same name. */
export const problem = <R extends Claimant, Row extends NamedRow>(
  { definition, what, store }: RecordDeps<R, Row>,
  resource: R,
  { row, isConfirmed }: MayWrite<Row>,
  { set, names = [] }: Omit<Wanted<Row>, "begin">,
): Verdict | null => {
  if (row !== null && !isConfirmed) return refusal(notConfirmed({ id: row._id, what }, differences(row, set)));
  if (row?.name !== undefined && row.name === set.name) return null; // who has a name keeps it
  const others = othersIn(
    names.flatMap((name) => store.by("name", name)),
    resource,
  );
  const winner = olderThan(resource, others.filter(isNaming));
  return winner === null ? null : again(nameTaken(what, nameOf(claimOf(definition, winner))));
};

/** Says who has the unique member that the record was to get. */
const conflict = async <R extends Claimant, Row extends NamedRow>(
  { definition, what, called }: RecordDeps<R, Row>,
  resource: R,
  set: Partial<Row>,
): Promise<Finding> => {
  const holder = (await called?.(set)) ?? null;
  if (holder === null || holder._id === idOf(definition, resource)) {
    return waiting("Busy", "what it asks for is about to be let go of by another");
  }
  const holderName = holder.managed && nameOf(holder.managed);
  const isFormer = holderName === nameOf(claimOf(definition, resource)); // a former resource of this name, which is gone
  if (holderName !== null && !isFormer) return nameTaken(what, holderName);
  const message = `the ${what} ${holder._id}, which is no resource's, has this name; spec.externalName takes it over`;
  return refused("NameTaken", message);
};

/** Whether a resource claims its name. With CreateOnly it does so only until its record is made. */
const isNaming = (resource: Claimant): boolean =>
  isClaiming(resource) && !(resource.spec.managementPolicy === "CreateOnly" && resource.status?.id !== undefined);

const nameTaken = (what: string, by: string): Finding => refused("NameTaken", `the ${what} of the ${by} has this name`);

/** Looked at again soon: the operator does not hear when a record of the REST interface releases the name. */
const again = (ready: Finding): Verdict => refusal(ready, 5_000);
