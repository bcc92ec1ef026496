import type { Db } from "mongodb";
import { habitsOf } from "#core/storage/people/habits.ts";
import { zonesOf } from "#core/storage/people/zones.ts";
import type { Deliver } from "../delivery/work.ts";
import { type ByLocalTimeDeps, byLocalTime } from "./by-local-time.ts";

type Stores = {
  db: Db;
  people: Pick<ByLocalTimeDeps, "load">;
  messages: Pick<ByLocalTimeDeps, "commonHour">;
} & Pick<ByLocalTimeDeps, "clock">;

/** {@link byLocalTime}, joined to the stores. */
export const sorting = (
  { db, people: { load }, messages: { commonHour }, clock }: Stores,
  record: ByLocalTimeDeps["record"],
  deliver: Deliver,
): Deliver => byLocalTime({ load, zonesOf: zonesOf(db), habitsOf: habitsOf(db), commonHour, record, clock }, deliver);
