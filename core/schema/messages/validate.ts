import { type Static, Type } from "typebox";
import { ChannelName, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { WhyRecipient } from "../why/why.ts";
import { CreateNotificationResult, SkippedChannel } from "./message.ts";
import { CreateNotification } from "./notification.ts";
import { ScheduleShown } from "./schedule.ts";

const { Array: List, Boolean: Flag, Integer, Object: Members, Optional, String: Text } = Type;

/** Body of `POST /v1/notifications/validate`: what is wrong with it is told in the reply. */
export const ValidateNotification = Members(
  { app_id: CreateNotification.properties.app_id },
  { additionalProperties: true, description: "as in `POST /v1/notifications`" },
);
export type ValidateNotification = Static<typeof ValidateNotification>;

/** Its query. */
export const ValidateQuery = Members({
  as: Optional(
    Text({
      minLength: 1,
      maxLength: 255,
      pattern: "^[^\\u0000]*$",
      description: "external id of a person whose gates are asked",
    }),
  ),
});
export type ValidateQuery = Static<typeof ValidateQuery>;

const Told = {
  field: Nullable(Text({ description: "dotted path of the member; null where it is none's" })),
  message: Text(),
};

/** What a notification says on one channel in one language. */
export const RenderedLanguage = Members({
  language: Nullable(Text({ description: "null: for whoever has none of the others" })),
  bytes: Nullable(Integer({ minimum: 0, description: "of the provider's request; null where no limit is known" })),
  limit_bytes: Nullable(Integer()),
  payload: Nullable(
    Members(
      {},
      {
        additionalProperties: true,
        description: "what is said: of a push the provider's request; null where it cannot be rendered",
      },
    ),
  ),
  missing_variables: List(Text(), { description: "of its template, which the person or the data does not have" }),
});
export type RenderedLanguage = Static<typeof RenderedLanguage>;

/** Reply of `POST /v1/notifications/validate`. Source: docs/reference/notification-operations.md#validation. */
export const NotificationValidated = Members({
  valid: Flag({ description: "whether `POST /v1/notifications` would accept it now, but for rates and quotas" }),
  errors: List(Members({ ...Told, code: Text() }), { description: "why not" }),
  warnings: List(Members(Told), { description: "what may be a mistake" }),
  recipients: Nullable(CreateNotificationResult.properties.recipients_estimate),
  channels: List(Members({ channel: ChannelName, languages: List(RenderedLanguage) })),
  skipped_channels: List(SkippedChannel),
  ...ScheduleShown.properties,
  as: Nullable(
    Members(
      { sentence: Text(), recipients: List(WhyRecipient) },
      { description: "what the gates say of the person now; null unless one was asked about" },
    ),
  ),
});
export type NotificationValidated = Static<typeof NotificationValidated>;

named({ ValidateNotification, RenderedLanguage, NotificationValidated });
