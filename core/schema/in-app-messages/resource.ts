import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { cel, commonStatus, externalId, immutable, instant, objectName, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { inAppBounds, inAppStatuses } from "./content.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

/** A value of a trigger has one of several types, and texts are by languages: the operator reads both as the REST interface does. */
const asOverRest = (description: string) =>
  Type.Object({}, { "x-kubernetes-preserve-unknown-fields": true, description });

const Segments = (description: string) =>
  List(Text({ minLength: 1, maxLength: 128, description: "name or id" }), {
    maxItems: inAppBounds.segments,
    "x-kubernetes-list-type": "set",
    description,
  });

const Target = Closed(
  {
    includedSegments: Optional(Segments("who sees it, by names or ids of segments; none: everybody")),
    excludedSegments: Optional(Segments("who does not")),
  },
  { description: "who sees it; absent: everybody, or what the REST interface says" },
);

const Redisplay = Closed(
  {
    limit: Integer({ minimum: 1, maximum: 1_000, description: "times in all" }),
    afterHours: Integer({ minimum: 0, maximum: 8_760, description: "from one time to the next at least" }),
  },
  { description: "how often one device shows it; absent: once" },
);

export const InAppMessageSpec = resourceSpec(externalId("inAppMessage"), {
  appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
  name: Text({ minLength: 1, maxLength: inAppBounds.nameCharacters, description: "unique in the app" }),
  status: Optional(Enum([...inAppStatuses], { description: "devices get active ones only; a new one is a draft" })),
  target: Optional(Target),
  triggers: Optional(
    List(asOverRest("a trigger, as docs/reference/in-app-messages.md has it"), {
      maxItems: inAppBounds.triggers,
      "x-kubernetes-list-type": "atomic",
      description: "any of them shows it; none: as soon as a device has it",
    }),
  ),
  redisplay: Optional(Redisplay),
  priority: Optional(
    Integer({ minimum: 0, maximum: 100, description: "of several that could be shown the highest is" }),
  ),
  startAt: Optional(instant("from when devices get it")),
  endAt: Optional(instant("until when devices get it")),
  variants: List(asOverRest("a variant, as docs/reference/in-app-messages.md has it"), {
    minItems: 1,
    maxItems: inAppBounds.variants,
    "x-kubernetes-list-type": "atomic",
    description: "what it says, in one form or several, each for a part of the people",
  }),
});
export type InAppMessageSpec = Static<typeof InAppMessageSpec>;

const InAppMessageStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
  state: Optional(Enum([...inAppStatuses], { description: "its status, whoever says it" })),
});

export const inAppMessageResource = defineResource({
  kind: "InAppMessage",
  plural: "inappmessages",
  idKind: "inAppMessage",
  shortNames: ["hiam"],
  scope: "Namespaced",
  description: "A message that apps show to people while they use them.",
  spec: InAppMessageSpec,
  status: InAppMessageStatus,
  columns: [
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Name", type: "string", jsonPath: ".spec.name", wide: true },
  ],
});
