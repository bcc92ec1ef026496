import { type Static, Type } from "typebox";
import { customEventLimits, eventNamePattern } from "../events/custom.ts";
import { ChannelName, Closed, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { analyticsLimits, countProgress, rangeQuery, rangeReply } from "./query.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Num, Object: Members, Optional, String: Text } = Type;

/** What counts of a name: `total` is all of its events, the others its conversions. */
export const attributions = ["total", "direct", "influenced", "unattributed"] as const;

/** What names are ordered by. */
const aggregations = ["count", "sum", "unique_users"] as const;

/** Query of `GET /v1/apps/{appId}/analytics/outcomes`. */
export const OutcomesQuery = Closed({
  ...rangeQuery,
  name: List(Text({ minLength: 1, maxLength: customEventLimits.nameCharacters, pattern: eventNamePattern }), {
    minItems: 1,
    maxItems: analyticsLimits.names,
    description: "names of custom events; one with a comma in it cannot be asked for",
  }),
  attribution: Optional(
    Enum([...attributions], {
      default: "total",
      description:
        "what counts: all events, whatever led to them; or the conversions that a click, a delivery or no message led to",
    }),
  ),
  aggregation: Optional(
    Enum([...aggregations], {
      default: "count",
      description:
        "what the names are ordered by, the largest first; `unique_users` has a job count different people and messages",
    }),
  ),
});
export type OutcomesQuery = Static<typeof OutcomesQuery>;

const change = "how much more than before, as a part of that: 0.5 is half more; null where that is 0 or unknown";

/** What was counted of one name. */
export const Outcome = Members({
  name: Text(),
  is_conversion: Flag({ description: "whether its events make conversions now" }),
  attribution: Enum([...attributions]),
  count: Integer({ description: "events or conversions that happened in the range" }),
  sum: Num({ description: "sum of their `value`" }),
  previous: Nullable(Members({ count: Integer(), sum: Num() }, { description: "the same of `previous`" })),
  change: Members({ count: Nullable(Num()), sum: Nullable(Num()) }, { description: change }),
  unique_users: Nullable(
    Integer({ description: "different people; null unless `aggregation` asks for them, and until they were counted" }),
  ),
  by_message: Nullable(
    List(Members({ message_id: Text(), count: Integer(), sum: Num() }), {
      maxItems: analyticsLimits.messagesOfOutcome,
      description: "messages that led to its conversions, those with the most first; null as `unique_users` is",
    }),
  ),
  by_channel: Nullable(
    List(Members({ channel: ChannelName, count: Integer(), sum: Num() }), {
      description:
        "channels, and so platforms, over which messages led to its conversions, those with the most first; null as `unique_users` is",
    }),
  ),
});
export type Outcome = Static<typeof Outcome>;

/** Its reply. */
export const Outcomes = Members({
  ...rangeReply,
  people_as_of: Nullable(
    Text({
      format: "date-time",
      description: "when `unique_users`, `by_message` and `by_channel` were counted; null before",
    }),
  ),
  progress: countProgress,
  data: List(Outcome, { description: "one for each name" }),
});
export type Outcomes = Static<typeof Outcomes>;

named({ Outcome, Outcomes });
