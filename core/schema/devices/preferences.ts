import { type Static, Type } from "typebox";
import { ChannelName, Closed, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns } from "../json/patterns.ts";
import { suppressionLimits } from "../suppressions/suppression.ts";

const { Boolean: Flag, Optional, String: Text } = Type;

const categoryName = { minLength: 1, maxLength: suppressionLimits.categoryCharacters, pattern: patterns.noNull };
const ofChannels = MapOf({ enum: [...ChannelName.enum] }, Flag(), {
  minProperties: 1,
  description: "by channel: whether the person wants messages of this category there",
});
const time = Text({ maxLength: 16, pattern: patterns.timeOfDay, description: "of a day, on the person's clock" });

/** Body of `PUT /sdk/v1/user/preferences`. What is not named stays as it is. */
export const SetPreferences = Closed({
  categories: Optional(MapOf(categoryName, ofChannels, { maxProperties: suppressionLimits.categories })),
  quiet_hours: Optional(
    Nullable(
      Closed(
        {
          enabled: Flag({ description: "false: the person wants none" }),
          start: Optional(time),
          end: Optional(time),
        },
        { description: "the person's own, in the place of the app's; null: the app's" },
      ),
    ),
  ),
});
export type SetPreferences = Static<typeof SetPreferences>;

/** What a person wants. */
export const Preferences = Type.Object({
  categories: Type.Record(Text(), Type.Record(Text(), Flag()), {
    description:
      "the categories that the app offers, and those that are held back: for each channel whether messages come",
  }),
  quiet_hours: Nullable(
    Type.Object(
      {
        enabled: Flag(),
        start: Text(),
        end: Text(),
        own: Flag({ description: "whether the person said so; false: they are the app's" }),
      },
      { description: "null: the app has none, and a person can change nothing of them" },
    ),
  ),
});
export type Preferences = Static<typeof Preferences>;

named({ SetPreferences, Preferences });
