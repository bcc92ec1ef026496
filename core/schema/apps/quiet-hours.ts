import { Type } from "typebox";
import { ChannelName, Closed } from "../json/common.ts";
import { patterns } from "../json/patterns.ts";

const { Enum, String: Text } = Type;

const timeOfDay = { maxLength: 16, pattern: patterns.timeOfDay };

/** The setting `quiet_hours`. Source: docs/reference/timing.md#quiet-hours. */
export const QuietHours = Closed(
  {
    enabled: Type.Boolean({ default: false, description: "whether there are any" }),
    start: Text({ default: "22:00", ...timeOfDay, description: "when they begin, by the recipient's clock" }),
    end: Text({
      default: "08:00",
      ...timeOfDay,
      description: "when they end, on the next day where that is not later",
    }),
    days: Type.Union(
      [
        Type.Array(Enum(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]), {
          minItems: 1,
          maxItems: 7,
        }),
        Type.Null(),
      ],
      { default: null, description: "days on which they begin; null: all" },
    ),
    timezone: Text({
      default: "user",
      minLength: 1,
      maxLength: 64,
      pattern: patterns.timeZone,
      description: "user: the clock of each recipient; else an IANA name: that of a zone",
    }),
    channels: Type.Union([Type.Array(ChannelName, { minItems: 1, maxItems: 8 }), Type.Null()], {
      default: null,
      description: "channels that they are on; null: all",
    }),
    mode: Enum(["hold", "drop"], {
      default: "hold",
      description: "hold: what falls into them is sent at their end; drop: it is suppressed",
    }),
  },
  { description: "when recipients are not to be disturbed" },
);
