import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { lastDays } from "#core/domain/events/days.ts";
import {
  definitionLimits,
  definitionPaging,
  type EventDefinition,
  EventDefinitionDetail,
  EventDefinitionListQuery,
  EventDefinitionPage,
  EventDefinition as Shown,
  UpdateEventDefinition,
} from "#core/schema/events/definition.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type EventDefinitionRow, eventDefinitions } from "#core/storage/events/definitions.ts";
import { eventValuesOf } from "#core/storage/events/event-values.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { appOfPath, existing } from "../../http/locate.ts";
import { type Cursors, type Page, readPage } from "../../http/pages.ts";
import { type Located, routeOf } from "../../http/route.ts";
import type { Audit } from "../../settings/audit.ts";
import { updateDefinition } from "./update.ts";
import { definitionDetail, definitionView, shownDays } from "./views.ts";

export type DefinitionPlatform = { db: Db; cursors: Cursors; audit: Audit; clock: Clock };

/** What the operations on event definitions use. */
export const definitionUse = ({ db, cursors, audit, clock }: DefinitionPlatform) => {
  const definitions = eventDefinitions(db);
  const values = eventValuesOf(db);
  return {
    view: (row: EventDefinitionRow): EventDefinition => definitionView(row, shownDays(clock.now())),

    find: async ({ tenant_id: tenantId, _id: appId }: AppRow, name = ""): Promise<EventDefinitionRow> =>
      existing(await definitions.find({ tenantId, appId }, name), "event definition"),

    list: (
      { tenant_id: tenantId, _id: appId }: AppRow,
      query: EventDefinitionListQuery,
    ): Promise<Page<EventDefinition>> => {
      const days = shownDays(clock.now());
      return readPage({
        cursors,
        paging: definitionPaging,
        list: `event-definitions/${appId}`,
        query,
        read: (page) => definitions.page({ tenantId, appId }, page),
        positionOf: ({ name }) => name,
        view: (row) => definitionView(row, days),
      });
    },

    /** Reads roll-ups alone: it takes as long for one event as for millions. */
    detail: async (row: EventDefinitionRow): Promise<EventDefinitionDetail> => {
      const now = clock.now();
      const [first = now] = lastDays(now, definitionLimits.days);
      const of = ofRow(row);
      return definitionDetail(row, await values.since(of, row.name, first), shownDays(now));
    },

    update: updateDefinition({ definitions, audit, clock }),
  };
};

type Use = { definitions: ReturnType<typeof definitionUse> };

const route = routeOf<Use>({ tag: "Events", scopes: ["analytics:read"] });

/** The definition that the path names. */
const definitionOfPath = async (located: Located<Use>): Promise<EventDefinitionRow> =>
  located.use.definitions.find(await appOfPath(located), located.params["name"]);

const all = "/v1/apps/{appId}/events/definitions";
const one = `${all}/{name}`;

/** The operations on event definitions. */
export const definitionRoutes = [
  route({
    id: "listEventDefinitions",
    method: "GET",
    path: all,
    summary: "List the names of an app's custom events, with their counts",
    query: EventDefinitionListQuery,
    reply: EventDefinitionPage,
    locate: appOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.definitions.list(resource, query) }),
  }),

  route({
    id: "getEventDefinition",
    method: "GET",
    path: one,
    summary: "Show a name of custom events with its counts by day and its properties",
    reply: EventDefinitionDetail,
    locate: definitionOfPath,
    handle: async ({ use, resource }) => ({ body: await use.definitions.detail(resource) }),
  }),

  route({
    id: "updateEventDefinition",
    method: "PATCH",
    path: one,
    summary: "Change how events of a name are shown, counted and kept",
    scopes: ["events:write"],
    errors: ["HS_CONFLICT"],
    body: UpdateEventDefinition,
    reply: Shown,
    locate: definitionOfPath,
    handle: async ({ use: { definitions }, caller, ip, requestId, body, resource }) => ({
      body: definitions.view(await definitions.update({ caller, ip, requestId }, resource, body)),
    }),
  }),
];
