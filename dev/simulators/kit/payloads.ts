import { type TSchema, Type } from "typebox";
import { Closed, Url } from "#core/schema/json/common.ts";
import { parser } from "#core/schema/json/parser.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Num, Object: Any, Optional, String: Text, Union } = Type;

/** Finds the first member of a payload that has another name, type or bound than its provider documents; null when all are right. */
const checker = (schema: TSchema): ((payload: unknown) => string | null) => {
  const parse = parser(schema);
  return (payload) => {
    try {
      parse(payload);
      return null;
    } catch (error) {
      return (error as Error).message; // names the member
    }
  };
};

const some = <T extends Type.TProperties>(members: T) => Closed(Type.Partial(Any(members)).properties);
const One = Enum([1]);
const Texts = List(Text());

/** Source: https://developer.apple.com/documentation/usernotifications/generating-a-remote-notification (tables 1 to 3). */
export const apnsFault = checker(
  Any({
    aps: some({
      alert: some({
        title: Text(),
        subtitle: Text(),
        body: Text(),
        "launch-image": Text(),
        "title-loc-key": Text(),
        "title-loc-args": Texts,
        "subtitle-loc-key": Text(),
        "subtitle-loc-args": Texts,
        "loc-key": Text(),
        "loc-args": Texts,
      }),
      badge: Integer({ minimum: 0 }),
      sound: Union([
        Text({ minLength: 1 }),
        Closed({ critical: One, name: Text({ minLength: 1 }), volume: Num({ minimum: 0, maximum: 1 }) }),
      ]),
      "thread-id": Text(),
      category: Text(),
      "content-available": One,
      "mutable-content": One,
      "target-content-id": Text(),
      "interruption-level": Enum(["passive", "active", "time-sensitive", "critical"]),
      "relevance-score": Num({ minimum: 0, maximum: 1 }),
      "filter-criteria": Text(),
    }),
  }),
);

const Instant = Integer({ minimum: 0 });
const words = { title: Optional(Text()), body: Optional(Text()), sound: Optional(Text()) };
/** All of Apple's examples of a start have words. */
const StartAlert = Union([Closed({ ...words, title: Text() }), Closed({ ...words, body: Text() })]);
const activity = {
  timestamp: Instant,
  "content-state": Any({}),
  alert: Optional(some({ title: Text(), body: Text(), sound: Text() })),
  "stale-date": Optional(Instant),
  "relevance-score": Optional(Num()),
};

/**
 * By the event of the push; a member of another event is a fault.
 * Source: https://developer.apple.com/documentation/activitykit/starting-and-updating-live-activities-with-activitykit-push-notifications
 */
const activityFaults: Record<string, (payload: unknown) => string | null> = {
  start: checker(
    Closed({
      aps: Closed({
        ...activity,
        event: Enum(["start"]),
        "attributes-type": Text({ minLength: 1 }),
        attributes: Any({}),
        alert: StartAlert,
        "input-push-token": Optional(One),
        "input-push-channel": Optional(Text({ minLength: 1 })),
      }),
    }),
  ),
  update: checker(Closed({ aps: Closed({ ...activity, event: Enum(["update"]) }) })),
  end: checker(Closed({ aps: Closed({ ...activity, event: Enum(["end"]), "dismissal-date": Optional(Instant) }) })),
};

/** The first fault of a push that starts, updates or ends a live activity. */
export const liveActivityFault = (payload: { aps?: { event?: unknown } }): string | null =>
  activityFaults[String(payload.aps?.event)]?.(payload) ??
  (isActivityEvent(payload.aps?.event) ? null : "no such event");

const isActivityEvent = (event: unknown): boolean => Object.hasOwn(activityFaults, String(event));

const Duration = Text({ pattern: "^[0-9]+(\\.[0-9]{1,9})?s$" });

/** Source: https://firebase.google.com/docs/reference/fcm/rest/v1/projects.messages (Message, AndroidConfig, AndroidNotification). */
export const fcmFault = checker(
  some({
    name: Text(),
    data: Type.Record(Text(), Text()),
    notification: some({ title: Text(), body: Text(), image: Url }),
    android: some({
      collapse_key: Text(),
      priority: Enum(["NORMAL", "HIGH"]),
      ttl: Duration,
      restricted_package_name: Text(),
      data: Type.Record(Text(), Text()),
      notification: some({
        title: Text(),
        body: Text(),
        icon: Text(),
        color: Text({ pattern: "^#[0-9A-Fa-f]{6}$" }),
        sound: Text(),
        tag: Text(),
        click_action: Text(),
        channel_id: Text(),
        ticker: Text(),
        sticky: Flag(),
        local_only: Flag(),
        notification_priority: Text(),
        notification_count: Integer(),
        visibility: Enum(["PRIVATE", "PUBLIC", "SECRET"]),
        image: Url,
      }),
      direct_boot_ok: Flag(),
    }),
    webpush: Any({}),
    apns: Any({}),
    fcm_options: some({ analytics_label: Text() }),
    token: Text(),
    topic: Text(),
    condition: Text(),
  }),
);

const Values = Type.Record(Text(), Union([Text(), Num(), Flag()]));

/** What an app is given of a live activity, as text in `data`. Source: docs/live-activities.md#android. */
export const liveUpdateFault = checker(
  Closed({
    event: Enum(["start", "update", "end"]),
    activity_id: Text({ minLength: 1 }),
    activity_type: Text({ minLength: 1 }),
    attributes: Values,
    content_state: Values,
    timestamp: Instant,
    stale_at: Optional(Instant),
    dismiss_at: Optional(Instant),
    alert: Optional(some({ title: Text(), body: Text(), sound: Text() })),
  }),
);

/** What a service worker is given. Source: docs/payloads.md; https://notifications.spec.whatwg.org/#dictdef-notificationoptions. */
export const webPushFault = checker(
  Closed({
    message_id: Text(),
    delivery_id: Text(),
    ...some({
      title: Text(),
      body: Text(),
      icon: Url,
      image: Url,
      badge: Url,
      url: Url,
      data: Type.Record(Text(), Text()),
      actions: List(Closed({ action: Text({ minLength: 1 }), title: Text(), icon: Optional(Url), url: Optional(Url) })),
      require_interaction: Flag(),
      tag: Text(),
      web_push: Type.Literal(8030),
      notification: Closed({
        title: Text({ minLength: 1 }),
        navigate: Url,
        ...some({
          body: Text(),
          icon: Url,
          tag: Text(),
          actions: List(Closed({ action: Text({ minLength: 1 }), title: Text(), navigate: Url })),
        }).properties,
      }),
    }).properties,
  }),
);
