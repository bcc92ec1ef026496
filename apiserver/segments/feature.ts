import { OkReply } from "#core/schema/json/error.ts";
import {
  CreateSegment,
  DeleteSegmentQuery,
  ExplainSegmentQuery,
  PreviewSegment,
  Segment,
  SegmentExplanation,
  SegmentListQuery,
  SegmentMembers,
  SegmentMembersAdded,
  SegmentMembersRemoved,
  SegmentPage,
  SegmentPreview,
  UpdateSegment,
} from "#core/schema/segments/segment.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import { locateSetting, settingRoutes } from "../settings/routes.ts";
import { docs } from "./openapi.ts";
import { type SegmentUse, segmentUseCases } from "./use-cases.ts";
import type { ShownSegment } from "./views.ts";

const ofApp = "/v1/apps/{appId}/segments";
const ofOne = `${ofApp}/{segmentId}`;
const named = { what: "segment", parameter: "segmentId" };
const reading = ["notifications:write"] as const;

const schemas = {
  create: CreateSegment,
  update: UpdateSegment,
  view: Segment,
  made: Segment,
  list: SegmentPage,
  query: SegmentListQuery,
};

const usual = settingRoutes<ShownSegment, typeof schemas>({
  ...named,
  name: "Segment",
  tag: "Segments",
  path: ofApp,
  idKind: "segment",
  reading,
  schemas,
  summaries: {
    list: "List the segments of an app",
    create: "Make a segment",
    get: "Show a segment",
    update: "Change a segment",
    remove: "Delete a segment",
  },
  errors: ["HS_ALREADY_EXISTS"],
});

const route = routeOf<SegmentUse>({ tag: "Segments", scopes: ["admin"] });
const locate = (located: Located<SegmentUse>): Promise<ShownSegment> => locateSetting<ShownSegment>(named)(located);

const others = [
  route({
    id: "deleteSegment",
    method: "DELETE",
    path: ofOne,
    summary: "Delete a segment",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    query: DeleteSegmentQuery,
    reply: OkReply,
    locate,
    handle: ({ use, caller, ip, requestId, query, resource }) =>
      done(use.removeSegment({ caller, ip, requestId }, resource, query.force === true)),
  }),

  route({
    id: "previewSegment",
    method: "POST",
    path: `${ofApp}/preview`,
    summary: "Count whom a filter means, without a segment",
    body: PreviewSegment,
    reply: SegmentPreview,
    locate: appOfPath,
    handle: async ({ use, body, resource }) => ({ body: await use.preview(resource, body) }),
  }),

  route({
    id: "explainSegment",
    method: "GET",
    path: `${ofOne}/explain`,
    summary: "Say whether somebody is in a segment, and why",
    errors: ["HS_CONFLICT"],
    query: ExplainSegmentQuery,
    reply: SegmentExplanation,
    locate,
    handle: async ({ use, query, resource }) => ({ body: await use.explain(resource, query.external_id) }),
  }),

  route({
    id: "addSegmentMembers",
    method: "POST",
    path: `${ofOne}/members`,
    summary: "Put up to 1,000 users on the list of a segment",
    errors: ["HS_CONFLICT"],
    body: SegmentMembers,
    reply: SegmentMembersAdded,
    locate,
    repeatable: {},
    handle: async ({ use, body, resource }) => {
      const { changed: added, missing } = await use.addMembers(resource, body);
      return { body: { added, missing } };
    },
  }),

  route({
    id: "removeSegmentMembers",
    method: "DELETE",
    path: `${ofOne}/members`,
    summary: "Take up to 1,000 users from the list of a segment",
    errors: ["HS_CONFLICT"],
    body: SegmentMembers,
    reply: SegmentMembersRemoved,
    locate,
    handle: async ({ use, body, resource }) => {
      const { changed: removed, missing } = await use.removeMembers(resource, body);
      return { body: { removed, missing } };
    },
  }),
];

/** Parts of an app's users, by a filter or as a list. */
export const segments = feature({
  make: segmentUseCases,
  routes: [usual.list, usual.create, usual.get, usual.update, ...others],
  ...docs,
});
