import type { WriteResult } from "#core/storage/settings/managed.ts";
import type { Verdict } from "../engine/handler.ts";
import { asWanted, type Claimant, idOf } from "../policies/management.ts";
import { dropping } from "./drops.ts";
import { looking } from "./looks.ts";
import type { NamedRow, RecordDeps } from "./record-deps.ts";
import { writing } from "./writes.ts";

/** The records of one kind, as the policies of its resources let them be written. */
export const records = <R extends Claimant, Row extends NamedRow>(deps: RecordDeps<R, Row>) => ({
  /** The id of the record that a resource stands for. */
  idOf: (resource: R): string => idOf(deps.definition, resource),
  ...looking(deps),
  ...writing(deps),
  /** The verdict on a record that is as wanted. */
  kept: (resource: R, { kept }: { kept: WriteResult }, status: Record<string, unknown>): Verdict => ({
    ready: asWanted(resource, deps.what),
    status: { id: idOf(deps.definition, resource), ...status },
    isChanged: kept !== "unchanged",
  }),
  ...dropping(deps),
});

export type Records<R extends Claimant, Row extends NamedRow> = ReturnType<typeof records<R, Row>>;
