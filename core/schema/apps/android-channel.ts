import { Type } from "typebox";
import { Closed } from "../json/common.ts";
import { patterns } from "../json/patterns.ts";

const { Enum, String: Text } = Type;

/** What Android calls how much a notification may disturb. Source: NotificationManager.IMPORTANCE_*. */
const androidImportances = ["none", "min", "low", "default", "high"] as const;

/** A notification channel that an app makes on Android. */
export const AndroidChannel = Closed(
  {
    id: Text({
      minLength: 1,
      maxLength: 100,
      pattern: patterns.noNull,
      description: "as messages name it by `android_channel_id`",
    }),
    name: Text({ minLength: 1, maxLength: 128, pattern: patterns.noNull, description: "what people read for it" }),
    importance: Enum([...androidImportances], { default: "default", description: "how much it may disturb" }),
  },
  { description: "a notification channel" },
);
