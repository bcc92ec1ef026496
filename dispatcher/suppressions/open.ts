import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { contactSubscriptions } from "#core/storage/people/ended.ts";
import { findSuppressed } from "#core/storage/suppressions/find-suppressed.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { optOuts } from "#core/storage/suppressions/opt-outs.ts";
import { suppressions as suppressionStore } from "#core/storage/suppressions/suppressions.ts";
import { verdicts } from "#core/storage/suppressions/verdicts.ts";
import { type CausesDeps, causesOf } from "./causes.ts";
import { suppressionGate } from "./gate.ts";
import { guard } from "./guard.ts";
import { suppressor } from "./suppress.ts";

export type Suppressions = ReturnType<typeof suppressions>;

export type SuppressionsDeps = { db: Db; secrets: Pick<KeyRing, "seal" | "open">; clock: Clock } & Pick<
  CausesDeps,
  "noteDoubted"
>;

/** The suppression list as sending and receipts use it. */
export const suppressions = ({ db, secrets, clock, noteDoubted }: SuppressionsDeps) => {
  const list = suppressionStore(db);
  const subscriptions = contactSubscriptions(db);
  const addresses = guard({ verdicts: verdicts(db) });
  const subjectsOf = suppressionKeys(db, secrets, clock);
  return {
    ...suppressor({ suppressions: list, subjectsOf, subscriptions, clock }),
    optOuts: optOuts({ suppressions: list, subjectsOf, clock }),
    causesOf: causesOf({ ...subscriptions, guard: addresses, noteDoubted }),
    guard: addresses,
    gate: suppressionGate(findSuppressed({ suppressions: list, subjectsOf, clock })),
  };
};
