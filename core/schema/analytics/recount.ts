import { type Static, Type } from "typebox";
import { Closed, DateTime } from "../json/common.ts";
import { named } from "../json/named.ts";
import { analyticsLimits } from "./query.ts";

const { Integer, Object: Members, String: Text } = Type;

const instant = (description: string) => Text({ format: "date-time", description });

/** Body of `POST /v1/apps/{appId}/analytics/recount`. */
export const RecountRange = Closed({
  from: instant("a full quarter of an hour"),
  to: instant(`one that is later, at most ${analyticsLimits.recountDays} days`),
});
export type RecountRange = Static<typeof RecountRange>;

/** What is counted again. */
export const Recount = Members({
  from: DateTime,
  to: DateTime,
  asked_at: instant("an answer whose `as_of` is later has what was counted"),
  quarters: Integer({ description: "quarters of an hour in which deliveries were made: each is counted again" }),
});
export type Recount = Static<typeof Recount>;

named({ RecountRange, Recount });
