import { type Static, Type } from "typebox";
import { customEventLimits, eventNamePattern } from "../events/custom.ts";
import { webhookEventKinds } from "../events/envelope.ts";
import { Closed } from "../json/common.ts";
import { patterns, worded } from "../json/patterns.ts";
import { cel, commonStatus, externalId, immutable, instant, objectName, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { webhookErrorClasses } from "../vocabulary/webhook-errors.ts";
import { filterOps } from "./filters.ts";
import { WebhookHeaders } from "./resource-header.ts";
import { audiences, messageReceived, webhookLimits } from "./webhook.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text, Unknown } = Type;

const { templateCharacters, ratePerSecond, maxInFlight, timeoutMs } = webhookLimits;

/** The REST interface's filters; a CRD has to say that a value may be anything. */
const Filters = Closed(
  {
    match: Enum(["all", "any", "none"], { description: "how many of the conditions an event has to meet" }),
    conditions: List(
      Closed(
        {
          field: Text({
            minLength: 1,
            maxLength: 200,
            pattern: patterns.dotPath,
            description: "dot path in the envelope; one that does not start with a member of it is looked up in `data`",
          }),
          op: Enum([...filterOps], { description: "how the field is compared" }),
          value: Optional(
            Unknown({
              "x-kubernetes-preserve-unknown-fields": true,
              description: "none with exists and not_exists; a list with in, not_in, between",
            }),
          ),
        },
        {
          description: "one condition",
          ...cel({
            rule: "self.op != 'matches_event' || self.field in ['name', 'data.name']",
            message: "matches_event is about the event's name: field has to be name",
          }),
        },
      ),
      { minItems: 1, maxItems: 20, "x-kubernetes-list-type": "atomic", description: "the conditions" },
    ),
  },
  { description: "which of these events are sent; absent = all" },
);

const shape = {
  batch: Flag({ default: false, description: "delivery.* events come grouped, at most 100 a request" }),
  filters: Optional(Filters),
  bodyTemplate: Optional(
    Text({
      minLength: 1,
      maxLength: templateCharacters,
      description: "Liquid over the envelope; absent = the envelope",
    }),
  ),
  bodyContentType: Enum(["application/json", "text/plain"], {
    default: "application/json",
    description: "what the body is; of application/json the template must make valid JSON",
  }),
  headers: Optional(WebhookHeaders),
};

const pace = {
  ratePerSecond: Optional(
    Integer({ minimum: 1, maximum: ratePerSecond, description: "requests begun a second; absent = no limit" }),
  ),
  maxInFlight: Integer({
    default: maxInFlight.standard,
    minimum: 1,
    maximum: maxInFlight.most,
    description: "requests under way at once",
  }),
  timeoutMilliseconds: Integer({
    default: timeoutMs.standard,
    minimum: timeoutMs.least,
    maximum: timeoutMs.most,
    description: "for a whole request",
  }),
};

const EventName = Text({
  minLength: 1,
  maxLength: customEventLimits.nameCharacters,
  pattern: eventNamePattern,
  description: "a custom event's name",
});

const members = {
  appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
  url: Text({
    minLength: 1,
    maxLength: 2048,
    pattern: worded("^https?://", "must begin with https:// or http://"),
    description:
      "where events are posted. Plain http, private addresses and other ports are refused unless the operator's and the " +
      "dispatcher's settings allow them",
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
    List(EventName, {
      maxItems: 50,
      "x-kubernetes-list-type": "set",
      description: "of event.received, the events of these names; needed when events has event.received",
    }),
  ),
  audience: Optional(
    Enum([...audiences], {
      description: `of ${messageReceived}, only those in conversations that a bot handles`,
    }),
  ),
  secretName: objectName(
    "the Secret that the operator writes: `secret` (whsec_…), with which requests are signed",
    cel(immutable("secretName")),
  ),
  ...shape,
  ...pace,
  paused: Flag({ default: false, description: "sends nothing while true, and afterwards what came meanwhile" }),
  suspended: Flag({
    default: false,
    description: "disables the endpoint: nothing is sent, and what comes is kept as dead, for a recovery",
  }),
};

export const WebhookSpec = resourceSpec(
  externalId("webhook"),
  members,
  {
    rule: `!has(self.audience) || ('event.received' in self.events && has(self.eventNames) && '${messageReceived}' in self.eventNames)`,
    message: `audience narrows ${messageReceived}, which eventNames do not have`,
    fieldPath: ".audience",
  },
  {
    rule: "!('event.received' in self.events) || (has(self.eventNames) && size(self.eventNames) > 0)",
    message: "event.received needs eventNames: the names of the custom events",
    fieldPath: ".eventNames",
  },
);
export type WebhookSpec = Static<typeof WebhookSpec>;

const Health = Closed(
  {
    successRate1h: Text({
      maxLength: 4,
      description: "share of the last hour's requests that succeeded, rounded down",
    }),
    p99Milliseconds1h: Optional(
      Integer({ minimum: 0, description: "of the last hour's requests, 99 of 100 took at most so long" }),
    ),
    lastErrorClass: Optional(Enum([...webhookErrorClasses], { description: "why the last failed request failed" })),
    updatedAt: instant("when these numbers last changed"),
  },
  {
    description:
      "requests of the last hour; absent when there were none. Renewed with the operator's resync, at most once a minute",
  },
);

export const WebhookStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
  state: Optional(Enum(["active", "failing", "disabled"], { description: "the endpoint's state in the service" })),
  disabledReason: Optional(Text({ maxLength: 300, description: "why the endpoint is disabled" })),
  failingSince: Optional(instant("first of the failed requests that made the endpoint failing")),
  health: Optional(Health),
  previousSecretValidUntil: Optional(instant("until when requests carry the former signature too")),
  enabledFor: Optional(
    Text({ maxLength: 253, description: "the value of the annotation herald.dev/enable that was last seen to" }),
  ),
});
export type WebhookStatus = Static<typeof WebhookStatus>;

export const webhookResource = defineResource({
  kind: "Webhook",
  plural: "webhooks",
  idKind: "webhook",
  shortNames: ["hwh"],
  scope: "Namespaced",
  description:
    "An endpoint to which an app's events are posted, signed. A new value of the annotation herald.dev/rotate makes a " +
    "new signing secret; the one before signs too for another 24 hours. A new value of herald.dev/enable enables an " +
    "endpoint that the service disabled (it answered 410, or failed for 14 days); so does another url.",
  spec: WebhookSpec,
  status: WebhookStatus,
  columns: [
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Success", type: "string", jsonPath: ".status.health.successRate1h" },
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "URL", type: "string", jsonPath: ".spec.url", wide: true },
  ],
});
