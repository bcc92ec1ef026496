import { type Static, Type } from "typebox";
import { Closed } from "../common.ts";
import { webhookEventKinds } from "../event.ts";
import { cel, commonStatus, deletionPolicy, immutable, objectName } from "./common.ts";
import { defineResource } from "./definition.ts";

const { Array: List, Boolean: Flag, Enum, Optional, String: Text } = Type;

export const WebhookSpec = Closed({
  appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
  url: Text({
    minLength: 1,
    maxLength: 2048,
    pattern: "^https?://",
    description:
      "where events are posted. Plain http and private addresses are only served when the dispatcher's settings allow them",
    ...cel(
      { rule: "isURL(self) && url(self).getHostname() != ''", message: "must be an http or https address with a host" },
      { rule: "!self.contains('@') || !self.split('/')[2].contains('@')", message: "must not hold a user or password" },
    ),
  }),
  description: Optional(Text({ maxLength: 300, description: "a note for people" })),
  events: List(Enum([...webhookEventKinds]), {
    minItems: 1,
    maxItems: webhookEventKinds.length,
    "x-kubernetes-list-type": "set",
    description: "the kinds of events wanted",
  }),
  eventNames: Optional(
    List(Text({ minLength: 1, maxLength: 128, description: "a custom event's name" }), {
      maxItems: 50,
      "x-kubernetes-list-type": "set",
      description: "of event.received, only events of these names; absent = all",
    }),
  ),
  secretName: objectName(
    "the Secret that the operator writes: `secret` (whsec_…), with which requests are signed",
    cel(immutable("secretName")),
  ),
  suspended: Flag({ default: false, description: "sends nothing and queues nothing while true" }),
  deletionPolicy,
});
export type WebhookSpec = Static<typeof WebhookSpec>;

export const WebhookStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
  state: Optional(Enum(["active", "failing", "disabled"], { description: "the endpoint's state in the service" })),
  previousSecretValidUntil: Optional(
    Text({ format: "date-time", maxLength: 40, description: "until when requests carry the former signature too" }),
  ),
});
export type WebhookStatus = Static<typeof WebhookStatus>;

export const webhookResource = defineResource({
  kind: "Webhook",
  plural: "webhooks",
  shortNames: ["hwh"],
  scope: "Namespaced",
  description:
    "An endpoint to which an app's events are posted, signed. A new value of the annotation herald.dev/rotate makes a " +
    "new signing secret; the one before signs too for another 24 hours.",
  spec: WebhookSpec,
  status: WebhookStatus,
  rules: [],
  columns: [
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "URL", type: "string", jsonPath: ".spec.url", wide: true },
  ],
});
