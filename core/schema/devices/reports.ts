import { type Static, Type } from "typebox";
import { CustomEvent } from "../events/custom.ts";
import { Closed, conditional, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { worded } from "../json/patterns.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

/** Receipts, or events, in one request of a device. */
const mostItems = 100;

const noControls = worded("^[^\\u0000-\\u001f\\u007f]*$", "must not contain control characters");
const Id = Text({ minLength: 1, maxLength: 64, pattern: noControls });
const ownId = Optional(
  Text({ minLength: 1, maxLength: 64, pattern: noControls, description: "the device's own; every other is 404" }),
);
const instant = { format: "date-time", maxLength: 40 };
const when = "within the last 30 days; what is ahead counts as now";

const onlyClicksLead = conditional({
  when: { type: "object", properties: { type: { const: "clicked" } }, required: ["type"] },
  require: {},
  otherwise: { type: "object", properties: { button_id: false, url: false } },
});

/** What a device says of a message that it got. */
export const DeviceReceipt = Closed(
  {
    type: Enum(["received", "opened", "clicked", "dismissed"]),
    message_id: Id,
    delivery_id: Optional(Nullable(Text({ maxLength: 64, description: "as the payload names it, where it does" }))),
    subscription_id: ownId,
    occurred_at: Text({ ...instant, description: `when it happened: ${when}` }),
    button_id: Optional(Nullable(Text({ maxLength: 100, pattern: noControls, description: "of a click on a button" }))),
    activity_id: Optional(
      Nullable(Text({ maxLength: 128, description: "the live activity that the message changes, where it does" })),
    ),
    url: Optional(Nullable(Text({ maxLength: 2000, pattern: noControls, description: "where a click led" }))),
  },
  onlyClicksLead,
);
export type DeviceReceipt = Static<typeof DeviceReceipt>;

/** Body of `POST /sdk/v1/receipts`. */
export const DeviceReceipts = Closed({ receipts: List(DeviceReceipt, { minItems: 1, maxItems: mostItems }) });
export type DeviceReceipts = Static<typeof DeviceReceipts>;

/** Reply to it: what was refused does not delay the rest. */
export const ReceiptsAccepted = Type.Object({
  accepted: Integer({
    minimum: 0,
    description: "a receipt for what was not sent to the device is accepted and dropped",
  }),
  duplicates: Integer({ minimum: 0, description: "receipts that are in this request more than once" }),
  errors: List(
    Type.Object({
      index: Integer({ minimum: 0, description: "position in `receipts`" }),
      code: Enum(["OCCURRED_AT_TOO_OLD", "RECEIPTS_DISABLED"]),
      message: Text(),
    }),
  ),
});
export type ReceiptsAccepted = Static<typeof ReceiptsAccepted>;

const { name, properties, value } = CustomEvent.properties;

/** Something that the person of a device did. */
export const DeviceEvent = Closed({
  id: Text({
    minLength: 1,
    maxLength: 64,
    pattern: noControls,
    description: "the device's, such as a UUID; within 24 h it counts once",
  }),
  name,
  subscription_id: ownId,
  properties,
  value,
  occurred_at: Optional(Text({ ...instant, description: `default now; ${when}` })),
});
export type DeviceEvent = Static<typeof DeviceEvent>;

/** Body of `POST /sdk/v1/events`. */
export const DeviceEvents = Closed({ events: List(DeviceEvent, { minItems: 1, maxItems: mostItems }) });
export type DeviceEvents = Static<typeof DeviceEvents>;

/** Body of `POST /sdk/v1/sessions`: a time in which a person used the app. */
export const ReportSession = Closed({
  subscription_id: ownId,
  started_at: Text({ ...instant, description: `when it began, which names it among those of the device: ${when}` }),
  duration_s: Optional(
    Integer({
      minimum: 0,
      maximum: 86_400,
      description: "seconds so far; default 0; it may be told again as it grows",
    }),
  ),
});
export type ReportSession = Static<typeof ReportSession>;

/** Reply to it. */
export const SessionReported = Type.Object({
  counted: Enum(["new", "longer", "known"], {
    description: "new: the session; longer: the time that it has become longer by; known: both were before",
  }),
});
export type SessionReported = Static<typeof SessionReported>;

named({ ReportSession, SessionReported, DeviceReceipt, DeviceReceipts, ReceiptsAccepted, DeviceEvent, DeviceEvents });
