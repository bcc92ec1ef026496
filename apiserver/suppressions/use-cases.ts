import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { targets } from "#core/storage/messages/targets.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import { contactSubscriptions } from "#core/storage/people/ended.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { type SuppressionRow, suppressions as suppressionStore } from "#core/storage/suppressions/suppressions.ts";
import { existing } from "../http/locate.ts";
import type { Cursors } from "../http/pages.ts";
import { addSuppressions } from "./add.ts";
import { listSuppressions } from "./list.ts";
import { removeSuppression } from "./remove.ts";

export type SuppressionPlatform = { db: Db; secrets: Pick<KeyRing, "seal" | "open">; cursors: Cursors; clock: Clock };

export type SuppressionUse = ReturnType<typeof suppressionUseCases>;

/** What the operations on suppressions do. */
export const suppressionUseCases = ({ db, secrets, cursors, clock }: SuppressionPlatform) => {
  const suppressions = suppressionStore(db);
  const subjectsOf = suppressionKeys(db, secrets, clock);
  return {
    find: async (of: OfApp, id = ""): Promise<SuppressionRow> =>
      existing(await suppressions.find(of, id, clock.now()), "suppression"),
    list: listSuppressions({ suppressions, subjectsOf, cursors, clock }),
    add: addSuppressions({
      suppressions,
      subjectsOf,
      subscriptions: subscriptions(db),
      targets: targets(db),
      clock,
    }),
    remove: removeSuppression({ suppressions, subscriptions: contactSubscriptions(db), clock }),
  };
};
