import { type Static, Type } from "typebox";
import { Closed, MapOf } from "../json/common.ts";
import { cel, commonStatus, externalId, immutable, objectName, resourceSpec } from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { activityLimits, activityPlatforms, LiveActivityProperty, unusableNames } from "./type.ts";

const { Array: List, Boolean: Flag, Enum, Literal, Number: Num, Optional, String: Text } = Type;

/** A CRD has no unions: the operator checks that it is one of these. */
const Value = Type.Union([Text({ maxLength: activityLimits.textCharacters }), Num(), Flag()], {
  "x-kubernetes-preserve-unknown-fields": true,
  description: "a text, a number or true or false",
});

/** As the REST interface has it, but for what a CRD cannot say. */
const Property = Closed(
  {
    ...LiveActivityProperty.properties,
    enum: Optional(
      List(Value, {
        minItems: 1,
        maxItems: activityLimits.values,
        "x-kubernetes-list-type": "atomic",
        description: "the only values admitted",
      }),
    ),
  },
  {
    description: "one member",
    ...cel(
      {
        rule: "self.type == 'string' || !(has(self.minLength) || has(self.maxLength) || has(self.format))",
        message: "minLength, maxLength and format are only for the type string",
      },
      {
        rule: "self.type in ['number', 'integer'] || !(has(self.minimum) || has(self.maximum))",
        message: "minimum and maximum are only for the types number and integer",
      },
      {
        rule: "!has(self.minLength) || !has(self.maxLength) || self.minLength <= self.maxLength",
        message: "minLength must be at most maxLength",
      },
      {
        rule: "!has(self.minimum) || !has(self.maximum) || self.minimum <= self.maximum",
        message: "minimum must be at most maximum",
      },
    ),
  },
);

const activitySchema = (description: string) =>
  Closed(
    {
      type: Literal("object", { description: "always object" }),
      properties: MapOf({ minLength: 1, maxLength: activityLimits.nameCharacters }, Property, {
        maxProperties: activityLimits.properties,
        description: "member name to its schema; members that are not named are refused",
      }),
      required: Optional(
        List(Text({ minLength: 1, maxLength: activityLimits.nameCharacters, description: "a member's name" }), {
          maxItems: activityLimits.required,
          "x-kubernetes-list-type": "set",
          description: "members that must be present",
        }),
      ),
    },
    {
      description,
      ...cel({
        rule: "!has(self.required) || self.required.all(name, name in self.properties)",
        message: "required names a member that properties does not have",
      }),
    },
  );

export const LiveActivityTypeSpec = resourceSpec(externalId("liveActivityType"), {
  appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
  name: Text({
    minLength: 1,
    maxLength: activityLimits.nameCharacters,
    description: "unique in the app; the name of the Swift struct that conforms to ActivityAttributes",
    ...cel(immutable("name"), {
      rule: `!(self in [${unusableNames.map((name) => `'${name}'`).join(", ")}])`,
      message: `name must not be one of ${unusableNames.map((name) => `"${name}"`).join(", ")}: no path would find the type`,
    }),
  }),
  description: Optional(Text({ maxLength: activityLimits.descriptionCharacters, description: "a note for people" })),
  contentStateSchema: activitySchema("schema of the content state that updates carry"),
  attributesSchema: Optional(activitySchema("schema of the attributes that a start carries; absent = any attributes")),
  platforms: Optional(
    List(Enum([...activityPlatforms]), {
      minItems: 1,
      maxItems: activityPlatforms.length,
      "x-kubernetes-list-type": "set",
      description: "whose devices a start reaches; absent = ios",
    }),
  ),
  frequentUpdates: Optional(
    Flag({ description: "whether the app has NSSupportsLiveActivitiesFrequentUpdates; absent = no" }),
  ),
});
export type LiveActivityTypeSpec = Static<typeof LiveActivityTypeSpec>;

const LiveActivityTypeStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
});

export const liveActivityTypeResource = defineResource({
  kind: "LiveActivityType",
  plural: "liveactivitytypes",
  idKind: "liveActivityType",
  shortNames: ["hlat"],
  scope: "Namespaced",
  description: "A type of live activity of an app, with the schemas that its payloads are checked against.",
  spec: LiveActivityTypeSpec,
  status: LiveActivityTypeStatus,
  columns: [
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "Name", type: "string", jsonPath: ".spec.name" },
  ],
});
