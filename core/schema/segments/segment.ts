import { type Static, Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text, Unknown } = Type;

/** Bounds of segments. Source: docs/reference/segments.md#bounds. */
export const segmentLimits = {
  segments: 1_000,
  nameCharacters: 128,
  descriptionCharacters: 255,
  /** Users of one call that changes a list. */
  members: 1_000,
  /** Segments that one filter names, and that these name, and so on. */
  named: 100,
  /** Of their filters together, in bytes of JSON. */
  namedBytes: 262_144,
} as const;

/** `filter`: whoever passes it. `list`: whoever was put on it. */
export const segmentKinds = ["filter", "list"] as const;
export type SegmentKind = (typeof segmentKinds)[number];

const Name = Text({
  minLength: 1,
  maxLength: segmentLimits.nameCharacters,
  pattern: patterns.noNull,
  description: "unique in the app",
});
const Description = Text({ maxLength: segmentLimits.descriptionCharacters, pattern: patterns.noNull });
const Filter = Unknown({
  description: "all, any or none of conditions and groups, as docs/reference/filters.md has it",
});
const Count = Integer({ minimum: 0 });

/** Counts of subscriptions by channel: one member for each channel that has any. */
const ByChannel = Type.Record(Text(), Count, { description: "channel to subscriptions" });

/** What may name a segment: others, messages that are queued, in-app messages, exports that wait or are being made. */
export const segmentUses = ["segment", "message", "in_app_message", "export"] as const;

const UsedBy = List(Type.Object({ type: Enum([...segmentUses]), id: Text() }), {
  maxItems: 20,
  description: "what names it, at most 20 of them",
});

/** A part of an app's users. Source: docs/reference/segments.md#definition. */
export const Segment = Type.Object({
  id: Text(),
  app_id: Text(),
  name: Name,
  description: Nullable(Description),
  kind: Enum([...segmentKinds]),
  filter: Unknown({ description: "null for a list; segments that it names stand in it by their ids" }),
  count: Nullable(Type.Integer({ minimum: 0, description: "users in it when it was counted; null until then" })),
  by_channel: Nullable(ByChannel),
  counted_at: Nullable(Type.String({ format: "date-time" })),
  warnings: List(Text(), { description: "what of the filter is allowed and probably not meant" }),
  used_by: UsedBy,
  managed: Flag({ description: "whether a custom resource keeps it as it is" }),
  created_at: DateTime,
  updated_at: DateTime,
});
export type Segment = Static<typeof Segment>;

export const SegmentPage = PageOf(Segment);

/** Body of `POST …/segments`. */
export const CreateSegment = Closed({
  name: Name,
  description: Optional(Nullable(Description)),
  kind: Optional(Enum([...segmentKinds], { description: "default filter" })),
  filter: Optional(Filter),
});
export type CreateSegment = Static<typeof CreateSegment>;

/** Body of `PATCH …/segments/{segmentId}`. */
export const UpdateSegment = Closed({
  name: Optional(Name),
  description: Optional(Nullable(Description)),
  filter: Optional(Filter),
});
export type UpdateSegment = Static<typeof UpdateSegment>;

export const segmentPaging = pagingOf({ keys: ["name", "created_at"], sort: "name" });

/** Query of `GET …/segments`. */
export const SegmentListQuery = Type.Object({ ...segmentPaging.pageQuery, ...segmentPaging.sortQuery });
export type SegmentListQuery = Static<typeof SegmentListQuery>;

export const DeleteSegmentQuery = Type.Object({
  force: Optional(Flag({ description: "deletes one that is used, too" })),
});

const Condition = {
  path: Text({ description: "where it stands in the filter" }),
};

/** Body of `POST …/segments/preview`. */
export const PreviewSegment = Closed({ filter: Filter });
export type PreviewSegment = Static<typeof PreviewSegment>;

/** Whom a filter means now. Source: docs/reference/segments.md#preview. */
export const SegmentPreview = Type.Object({
  recipients: Nullable(Type.Integer({ minimum: 0, description: "subscribed subscriptions that pass" })),
  users: Nullable(Count),
  by_channel: Nullable(ByChannel),
  is_exact: Flag({
    description: "false while it is being counted: then the counts are the last ones, of `as_of`, or null",
  }),
  as_of: Nullable(Type.String({ format: "date-time", description: "when it was counted" })),
  conditions: List(
    Type.Object({
      ...Condition,
      passed: Nullable(Type.Integer({ minimum: 0, description: "users of the app who pass it" })),
    }),
  ),
  sample: List(Type.Object({ user_id: Text(), external_id: Nullable(Text()) }), {
    maxItems: 10,
    description: "some of those who pass",
  }),
  warnings: List(Text()),
});
export type SegmentPreview = Static<typeof SegmentPreview>;

const UserRef = Closed({
  label: Text({ pattern: patterns.aliasLabel, description: "`external_id`, `user_id`, or a label of aliases" }),
  id: Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull }),
});
export type UserRef = Static<typeof UserRef>;

/** Body of `POST` and `DELETE …/segments/{segmentId}/members`. */
export const SegmentMembers = Closed({
  users: List(UserRef, { minItems: 1, maxItems: segmentLimits.members }),
});
export type SegmentMembers = Static<typeof SegmentMembers>;

const missing = List(UserRef, { description: "those whom the app does not know" });

export const SegmentMembersAdded = Type.Object({ added: Count, missing });
export type SegmentMembersAdded = Static<typeof SegmentMembersAdded>;
export const SegmentMembersRemoved = Type.Object({ removed: Count, missing });
export type SegmentMembersRemoved = Static<typeof SegmentMembersRemoved>;

export const ExplainSegmentQuery = Type.Object({
  external_id: Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull }),
});

/** Whether somebody is in a segment, and why. Source: docs/reference/segments.md#explain. */
export const SegmentExplanation = Type.Object({
  member: Flag(),
  conditions: List(
    Type.Object({
      ...Condition,
      value: Unknown({ description: "what was found; of a condition on subscriptions a list, one for each of theirs" }),
      passed: Flag({ description: "of a condition on subscriptions: whether one of theirs passes it" }),
    }),
  ),
  as_of: DateTime,
});
export type SegmentExplanation = Static<typeof SegmentExplanation>;

named({
  Segment,
  SegmentPage,
  CreateSegment,
  UpdateSegment,
  PreviewSegment,
  SegmentPreview,
  SegmentMembers,
  SegmentMembersAdded,
  SegmentMembersRemoved,
  SegmentExplanation,
});
