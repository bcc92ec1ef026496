import type { Db } from "mongodb";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import { usage } from "#core/storage/messages/usage.ts";
import type { Deliver } from "../delivery/work.ts";
import { type LookDeps, lookAgain } from "./look.ts";
import { type ReserveDeps, reserveMore } from "./reserve.ts";

type Stores = { db: Db; people: Pick<LookDeps, "load"> } & Pick<LookDeps, "choices"> & Omit<ReserveDeps, "usage">;

/** Looks at what was sent, joined to the stores: to whom it did not reach the message goes over another channel. */
export const looking = ({ db, people, ...deps }: Stores, addressesOf: LookDeps["addressesOf"]): Deliver =>
  lookAgain({
    ...deps,
    load: people.load,
    deliveries: deliveries(db),
    addressesOf,
    reserve: reserveMore({ ...deps, usage: usage(db) }),
  });
