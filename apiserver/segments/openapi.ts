import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type {
  CreateSegment,
  PreviewSegment,
  Segment,
  SegmentExplanation,
  SegmentMembers,
  SegmentMembersAdded,
  SegmentMembersRemoved,
  SegmentPreview,
  UpdateSegment,
} from "#core/schema/segments/segment.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const filter = {
  all: [
    { field: "tags.plan", op: "eq", value: "gold" },
    { field: "last_active_at", op: "within_last", value: { amount: 30, unit: "days" } },
  ],
};

const segment: Segment = {
  id: "seg_01JDKQ4WSM0Q2V6E3T8YB4ZC9N",
  app_id: exampleAppId,
  name: "Active gold customers",
  description: "who gets the monthly offer",
  kind: "filter",
  filter,
  count: 1_204,
  by_channel: { ios_push: 902, email: 1_101 },
  counted_at: exampleTime,
  warnings: [],
  used_by: [],
  managed: false,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const list: Segment = { ...segment, name: "Beta testers", description: null, kind: "list", filter: null };

const preview: SegmentPreview = {
  recipients: 2_003,
  users: 1_204,
  by_channel: { ios_push: 902, email: 1_101 },
  is_exact: true,
  as_of: exampleTime,
  conditions: [
    { path: "filter.all[0]", passed: 3_310 },
    { path: "filter.all[1]", passed: 20_422 },
  ],
  sample: [{ user_id: refs.user_id, external_id: refs.external_id }],
  warnings: [],
};

const uncounted: SegmentPreview = {
  ...preview,
  recipients: null,
  users: null,
  by_channel: null,
  is_exact: false,
  as_of: null,
  conditions: preview.conditions.map(({ path }) => ({ path, passed: null })),
  sample: [],
};

const users = [{ label: "external_id", id: refs.external_id }];

const explanation: SegmentExplanation = {
  member: false,
  conditions: [
    { path: "filter.all[0]", value: "silver", passed: false },
    { path: "filter.all[1]", value: exampleTime, passed: true },
  ],
  as_of: exampleTime,
};

/** What the OpenAPI document says of segments beside their operations. */
export const docs: Docs = {
  tags: { Segments: "Parts of an app's users: whoever passes a filter, or a list." },
  examples: {
    Segment: [segment, list],
    SegmentPage: [lastPage(segment)],
    CreateSegment: [
      { name: segment.name, filter },
      { name: list.name, kind: "list" },
    ] satisfies CreateSegment[],
    UpdateSegment: [{ description: "who gets the weekly offer" }, { filter }] satisfies UpdateSegment[],
    PreviewSegment: [{ filter }] satisfies PreviewSegment[],
    SegmentPreview: [preview, uncounted],
    SegmentMembers: [{ users }] satisfies SegmentMembers[],
    SegmentMembersAdded: [{ added: 1, missing: [] }] satisfies SegmentMembersAdded[],
    SegmentMembersRemoved: [{ removed: 0, missing: users }] satisfies SegmentMembersRemoved[],
    SegmentExplanation: [explanation],
  },
  pathParameters: { segmentId: pathPart("id of a segment", segment.id) },
  queryExamples: { external_id: refs.external_id, force: true },
};
