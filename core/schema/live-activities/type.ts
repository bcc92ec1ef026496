import { type Static, Type } from "typebox";
import { Closed, DateTime, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const {
  Array: List,
  Boolean: Flag,
  Enum,
  Integer,
  Literal,
  Number: Decimal,
  Optional,
  Partial,
  String: Text,
  Union,
} = Type;

/** Bounds of live activity types. Source: docs/reference/limits.md#live-activity-types. */
export const activityLimits = {
  types: 100,
  properties: 50,
  required: 50,
  nameCharacters: 100,
  descriptionCharacters: 300,
  textCharacters: 4096,
  values: 50,
} as const;

const TextLength = Integer({ minimum: 0, maximum: activityLimits.textCharacters, description: "of a string" });

/** The part of JSON Schema that a member may use. Source: docs/reference/live-activities.md#schemas. */
export const LiveActivityProperty = Closed(
  {
    type: Enum(["string", "number", "integer", "boolean"], { description: "the member's type" }),
    enum: Optional(
      List(Union([Text({ maxLength: activityLimits.textCharacters }), Decimal(), Flag()]), {
        minItems: 1,
        maxItems: activityLimits.values,
        description: "the only values admitted",
      }),
    ),
    minLength: Optional(TextLength),
    maxLength: Optional(TextLength),
    minimum: Optional(Decimal({ description: "of a number" })),
    maximum: Optional(Decimal({ description: "of a number" })),
    format: Optional(Literal("date-time", { description: "of a string" })),
    description: Optional(Text({ maxLength: activityLimits.descriptionCharacters, description: "a note for people" })),
  },
  { description: "one member" },
);
export type LiveActivityProperty = Static<typeof LiveActivityProperty>;

const memberName = { minLength: 1, maxLength: activityLimits.nameCharacters };

const activitySchema = (description: string) =>
  Closed(
    {
      type: Literal("object"),
      properties: MapOf(memberName, LiveActivityProperty, {
        maxProperties: activityLimits.properties,
        description: "member name to its schema; members that are not named are refused",
      }),
      required: Optional(
        List(Text(memberName), {
          maxItems: activityLimits.required,
          uniqueItems: true,
          description: "members that must be present; each stands in properties",
        }),
      ),
    },
    { description },
  );

const ContentState = activitySchema("schema of the content state that updates carry");
const Attributes = activitySchema("schema of the attributes that a start carries; without properties: any");
export type ActivitySchema = Static<typeof ContentState>;

/** Names by which no path finds a type: the first has a meaning there, and of the others clients make another path. */
export const unusableNames: readonly string[] = ["types", ".", ".."];

const Name = Text({
  minLength: 1,
  maxLength: activityLimits.nameCharacters,
  description: "unique in the app; the name of the Swift struct that conforms to ActivityAttributes",
});
const Description = Text({ maxLength: activityLimits.descriptionCharacters });
const FrequentUpdates = Flag({
  description: "whether the app has NSSupportsLiveActivitiesFrequentUpdates: more updates go with priority 10",
});

/** Where activities are shown: as Live Activities of iOS, or as notifications that an Android app makes. */
export const activityPlatforms = ["ios", "android"] as const;
export type ActivityPlatform = (typeof activityPlatforms)[number];

const Platforms = List(Enum([...activityPlatforms]), {
  minItems: 1,
  maxItems: activityPlatforms.length,
  uniqueItems: true,
  description: "whose devices a start reaches",
});

/** Body of `POST …/live-activities/types`. */
export const CreateLiveActivityType = Closed({
  name: Name,
  description: Optional(Description),
  content_state_schema: ContentState,
  attributes_schema: Optional(Attributes),
  platforms: Optional(Platforms),
  frequent_updates: Optional(FrequentUpdates),
});
export type CreateLiveActivityType = Static<typeof CreateLiveActivityType>;

/** Body of `PATCH …/live-activities/types/{activityType}`. */
export const UpdateLiveActivityType = Closed(
  Partial(
    Closed({
      description: Nullable(Description),
      content_state_schema: ContentState,
      attributes_schema: Attributes,
      platforms: Platforms,
      frequent_updates: FrequentUpdates,
    }),
  ).properties, // Partial alone admits members that it does not name
);
export type UpdateLiveActivityType = Static<typeof UpdateLiveActivityType>;

/** A type as the REST interface shows it. Source: docs/reference/live-activities.md#types. */
export const LiveActivityType = Type.Object({
  id: Text(),
  name: Text(),
  description: Nullable(Text()),
  content_state_schema: ContentState,
  attributes_schema: Attributes,
  platforms: Platforms,
  frequent_updates: FrequentUpdates,
  push_to_start_tokens: Integer({ minimum: 0, description: "registered push-to-start tokens; counted up to 10,000" }),
  created_at: DateTime,
  updated_at: DateTime,
  warnings: Optional(List(Text(), { description: "what is accepted and will probably not work" })),
});
export type LiveActivityType = Static<typeof LiveActivityType>;

export const LiveActivityTypeList = Type.Object({ data: List(LiveActivityType) });

named({ LiveActivityProperty, CreateLiveActivityType, UpdateLiveActivityType, LiveActivityType, LiveActivityTypeList });
