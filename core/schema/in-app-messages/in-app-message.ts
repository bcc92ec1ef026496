import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";
import { InAppRedisplay, InAppTarget, InAppTrigger, InAppVariant, inAppBounds, inAppStatuses } from "./content.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Object: Obj, Optional, String: Text } = Type;

const Name = Text({
  minLength: 1,
  maxLength: inAppBounds.nameCharacters,
  pattern: patterns.noNull,
  description: "unique in the app",
});
const Status = Enum([...inAppStatuses], { description: "devices get active ones only" });
const Target = InAppTarget;
const Triggers = List(InAppTrigger, {
  maxItems: inAppBounds.triggers,
  description: "any of them shows it; none: as soon as a device has it",
});
const Redisplay = Nullable(InAppRedisplay);
const Priority = Integer({ minimum: 0, maximum: 100, description: "of several that could be shown the highest is" });
const Instant = Nullable(Text({ format: "iso-date-time", pattern: patterns.dateTime, maxLength: 64 }));
const Variants = List(InAppVariant, { minItems: 1, maxItems: inAppBounds.variants });

/** A message that devices show inside the app. Source: docs/reference/in-app-messages.md. */
export const InAppMessage = Obj({
  id: Text(),
  app_id: Text(),
  name: Name,
  status: Status,
  target: Obj({
    included_segments: List(Text(), { description: "ids; none: everybody" }),
    excluded_segments: List(Text(), { description: "ids" }),
  }),
  triggers: Triggers,
  redisplay: Nullable(Obj({ limit: Integer(), after_hours: Integer() }, { description: "null: once on each device" })),
  priority: Priority,
  start_at: Nullable(DateTime),
  end_at: Nullable(DateTime),
  variants: Variants,
  managed: Flag({ description: "whether a custom resource keeps it as it is" }),
  created_at: DateTime,
  updated_at: DateTime,
});
export type InAppMessage = Static<typeof InAppMessage>;

export const InAppMessagePage = PageOf(InAppMessage);

/** Body of `POST …/in-app-messages`. */
export const CreateInAppMessage = Closed({
  name: Name,
  status: Optional(Enum([...inAppStatuses], { description: "default draft" })),
  target: Optional(Target),
  triggers: Optional(Triggers),
  redisplay: Optional(Redisplay),
  priority: Optional(Integer({ minimum: 0, maximum: 100, description: "default 0" })),
  start_at: Optional(Instant),
  end_at: Optional(Instant),
  variants: Variants,
});
export type CreateInAppMessage = Static<typeof CreateInAppMessage>;

/** Body of `PATCH …/in-app-messages/{inAppMessageId}`: what it names takes the place of what was there. */
export const UpdateInAppMessage = Type.Partial(CreateInAppMessage, { additionalProperties: false });
export type UpdateInAppMessage = Static<typeof UpdateInAppMessage>;

export const inAppPaging = pagingOf({ standard: 20, most: 50, keys: ["name", "created_at"], sort: "name" });

/** Query of `GET …/in-app-messages`. */
export const InAppMessageListQuery = Obj({ ...inAppPaging.pageQuery, ...inAppPaging.sortQuery });
export type InAppMessageListQuery = Static<typeof InAppMessageListQuery>;

named({ InAppMessage, InAppMessagePage, CreateInAppMessage, UpdateInAppMessage, InAppTrigger, InAppVariant });
