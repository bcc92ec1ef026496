import { type Static, Type } from "typebox";
import { ChannelName, Closed } from "../json/common.ts";

const { Enum, Integer, Null, String: Text, Union } = Type;

/** Of what a cap allows so many; a month of a rolling cap has 30 days. */
export const capPeriods = ["minute", "hour", "day", "week", "month"] as const;

/** How many messages somebody gets at most in a time. Source: docs/reference/timing.md#frequency-caps. */
export const FrequencyCap = Closed(
  {
    name: Text({ minLength: 1, maxLength: 64, description: "of its own among the caps: deliveries say it" }),
    max: Integer({ minimum: 1, maximum: 1_000, description: "messages in that time" }),
    per: Enum([...capPeriods], { description: "the time" }),
    window: Enum(["rolling", "calendar"], {
      default: "rolling",
      description:
        "rolling: the time before each send; calendar: the present one on the recipient's clock, weeks from Monday",
    }),
    scope: Enum(["user", "subscription"], {
      default: "user",
      description: "user: all addresses of a person together; subscription: each alone",
    }),
    channels: Union([Type.Array(ChannelName, { minItems: 1, maxItems: 8 }), Null()], {
      default: null,
      description: "channels whose messages it counts and holds back; null: all",
    }),
    categories: Union([Type.Array(Text({ minLength: 1, maxLength: 64 }), { minItems: 1, maxItems: 20 }), Null()], {
      default: null,
      description: "categories whose messages it counts and holds back; null: all, and messages without one",
    }),
  },
  { description: "one cap" },
);
export type FrequencyCap = Static<typeof FrequencyCap>;
