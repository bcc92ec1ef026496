import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns } from "../json/patterns.ts";
import { InAppTrigger, inAppActions, inAppLayouts } from "./content.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Object: Members, Optional, String: Text } = Type;

const Content = Members({
  layout: Enum([...inAppLayouts]),
  title: Nullable(Text()),
  body: Nullable(Text()),
  image_url: Nullable(Text()),
  buttons: List(Members({ id: Text(), text: Text(), action: Enum([...inAppActions]), url: Nullable(Text()) })),
  background: Nullable(Text()),
});

/** An in-app message as a device shows it: in the person's language, and in the variant that is theirs. */
export const ShownInApp = Members({
  id: Text(),
  variant_id: Text(),
  content: Content,
  variants: List(Members({ id: Text(), weight_percent: Integer() }), { description: "those that the message has" }),
  triggers: List(InAppTrigger),
  redisplay: Nullable(Members({ limit: Integer(), after_hours: Integer() })),
  priority: Integer(),
  start_at: Nullable(DateTime),
  end_at: Nullable(DateTime),
  updated_at: DateTime,
});
export type ShownInApp = Static<typeof ShownInApp>;

/** Reply of `GET /sdk/v1/in-app-messages`. Source: docs/reference/in-app-messages.md#devices. */
export const InAppForDevice = Members({
  messages: List(ShownInApp, { description: "the highest priority first, then the oldest" }),
  ids: List(Text(), { description: "of all that this device may show now, also of those that `since` leaves out" }),
  as_of: DateTime,
});
export type InAppForDevice = Static<typeof InAppForDevice>;

/** Query of `GET /sdk/v1/in-app-messages`. */
export const InAppForDeviceQuery = Members({
  since: Optional(
    Text({
      format: "iso-date-time",
      pattern: patterns.dateTime,
      maxLength: 64,
      description: "`as_of` of a former reply: leaves out what has not changed since",
    }),
  ),
});
export type InAppForDeviceQuery = Static<typeof InAppForDeviceQuery>;

export const inAppEventTypes = ["impression", "page_impression", "clicked", "dismissed"] as const;

const Id = Text({ minLength: 1, maxLength: 64, pattern: patterns.noNull });

/** Body of `POST /sdk/v1/in-app-messages/{inAppMessageId}/events`. */
export const InAppEvent = Closed({
  id: Optional(
    Text({
      minLength: 1,
      maxLength: 64,
      pattern: patterns.noNull,
      description: "the device's, such as a UUID; within 24 h it counts once",
    }),
  ),
  type: Enum([...inAppEventTypes]),
  variant_id: Id,
  page_id: Optional(Nullable(Id)),
  click_id: Optional(Nullable(Id)),
  first: Optional(Flag({ description: "whether it is the device's first of this type and message; default false" })),
});
export type InAppEvent = Static<typeof InAppEvent>;

const Count = Integer({ minimum: 0 });
const First = Integer({ minimum: 0, description: "of those that were a device's first" });

/** Reply of `GET …/in-app-messages/{inAppMessageId}/counts`. Source: docs/reference/in-app-messages.md#counts. */
export const InAppMessageCounts = Members({
  variants: List(
    Members({
      variant_id: Text(),
      impressions: Count,
      page_impressions: Count,
      clicks: Count,
      dismissals: Count,
      first_impressions: First,
      first_clicks: First,
    }),
    { description: "also those that the message no longer has" },
  ),
});
export type InAppMessageCounts = Static<typeof InAppMessageCounts>;

export const InAppEventAccepted = Members({ event_id: Text() });
export type InAppEventAccepted = Static<typeof InAppEventAccepted>;

named({ InAppForDevice, InAppEvent, InAppEventAccepted, InAppMessageCounts });
