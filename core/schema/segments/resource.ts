import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { cel, commonStatus, externalId, immutable, instant, objectName, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { segmentKinds, segmentLimits, segmentUses } from "./segment.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

/** A CRD cannot say what is nested in itself: the operator reads the filter as the REST interface does. */
const Filter = Type.Object(
  {},
  {
    "x-kubernetes-preserve-unknown-fields": true,
    description:
      "all, any or none of conditions and groups, as docs/reference/filters.md has it; segments are named by their names or " +
      "ids",
  },
);

export const SegmentSpec = resourceSpec(
  externalId("segment"),
  {
    appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
    name: Text({
      minLength: 1,
      maxLength: segmentLimits.nameCharacters,
      description: "unique in the app",
    }),
    description: Optional(Text({ maxLength: segmentLimits.descriptionCharacters, description: "a note for people" })),
    kind: Enum([...segmentKinds], {
      default: "filter",
      description: "filter: whoever passes it; list: whoever is put on it over the REST interface",
      ...cel(immutable("kind")),
    }),
    filter: Optional(Filter),
  },
  {
    rule: "has(self.filter) == (self.kind == 'filter')",
    message: "filter is needed for the kind filter, and must be left out for a list",
    fieldPath: ".filter",
  },
);
export type SegmentSpec = Static<typeof SegmentSpec>;

const Recipients = Closed(
  {
    channel: Text({ maxLength: 64, description: "the channel" }),
    count: Integer({ minimum: 0, description: "subscribed subscriptions" }),
  },
  { description: "those on one channel" },
);

const Use = Closed(
  {
    type: Enum([...segmentUses], { description: "what it is" }),
    id: Text({ maxLength: 128, description: "its id" }),
  },
  {
    description:
      "a segment, a message that waits for its time, an in-app message, or an export that waits or is being made",
  },
);

const SegmentStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
  users: Optional(Integer({ minimum: 0, description: "users in it when it was counted" })),
  recipients: Optional(
    List(Recipients, {
      maxItems: 16,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["channel"],
      description: "subscriptions in it by channel, when it was counted",
    }),
  ),
  countedAt: Optional(instant("when it was counted")),
  usedBy: Optional(
    List(Use, {
      maxItems: 20,
      "x-kubernetes-list-type": "atomic",
      description: "what names it, at most 20 of them",
    }),
  ),
  warnings: Optional(
    List(Text({ maxLength: 512, description: "a path, and what is probably not meant there" }), {
      maxItems: 20,
      "x-kubernetes-list-type": "atomic",
      description: "what of the filter is allowed and probably not meant",
    }),
  ),
});
export type SegmentStatus = Static<typeof SegmentStatus>;

export const segmentResource = defineResource({
  kind: "Segment",
  plural: "segments",
  idKind: "segment",
  shortNames: ["hseg"],
  scope: "Namespaced",
  description: "A part of an app's users: whoever passes a filter, or a list that is kept over the REST interface.",
  spec: SegmentSpec,
  status: SegmentStatus,
  columns: [
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "Users", type: "integer", jsonPath: ".status.users" },
    { name: "Counted", type: "date", jsonPath: ".status.countedAt" },
    { name: "Kind", type: "string", jsonPath: ".spec.kind", wide: true },
    { name: "Name", type: "string", jsonPath: ".spec.name", wide: true },
  ],
});
