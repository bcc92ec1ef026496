import { NotFound } from "#core/errors.ts";
import {
  CreateEventsExport,
  CreateHistory,
  EventsExport,
  type Export,
  HistoryExport,
  HistoryQuery,
} from "#core/schema/exports/export.ts";
import { MessageQuery } from "#core/schema/messages/message.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type Located, routeOf } from "../http/route.ts";
import type { ExportUse } from "./use-cases.ts";

const route = routeOf<ExportUse>({ tag: "Exports", scopes: ["analytics:read"] });

const history = "/v1/notifications/{messageId}/history";

/** The message that the path names, in an app that the caller may use: the one that query or body name, if they do. */
const messageOfPath = async ({ use, params, query, body, caller, signal }: Located<ExportUse>): Promise<MessageRow> => {
  const message = await use.findMessage(caller.tenant._id, params["messageId"] ?? "", signal);
  const ofBody = typeof body === "object" && body !== null && "app_id" in body ? body.app_id : undefined;
  const named = [query["app_id"], ofBody].filter((one) => typeof one === "string");
  if (message === null || named.some((id) => id !== message.app_id)) throw new NotFound("notification");
  const { app_ids: appIds } = caller.key;
  if (appIds !== null && !appIds.includes(message.app_id)) throw new NotFound("notification");
  return message;
};

const asHistory = (made: Export): HistoryExport => ({ ...made, success: true, destination_url: made.download_url });

export const messageExportRoutes = [
  route({
    id: "getHistory",
    method: "GET",
    path: history,
    summary:
      "Export what became of each recipient: the latest such export, else a new one; call it again until it is completed",
    errors: ["HS_QUOTA_EXCEEDED"],
    query: HistoryQuery,
    reply: HistoryExport,
    locate: messageOfPath,
    feature: "exports",
    handle: async ({ use, caller, query, resource }) => ({
      body: asHistory(await use.view(await use.history(caller, resource, { isFresh: query.fresh === true }))),
    }),
  }),

  route({
    id: "createHistory",
    method: "POST",
    path: history,
    summary: "Export anew what became of each recipient",
    errors: ["HS_QUOTA_EXCEEDED"],
    query: MessageQuery,
    body: CreateHistory,
    reply: HistoryExport,
    locate: messageOfPath,
    feature: "exports",
    repeatable: {},
    handle: async ({ use, caller, body, resource }) => ({
      body: asHistory(
        await use.view(await use.history(caller, resource, { isFresh: true, events: body.events, email: body.email })),
      ),
    }),
  }),

  route({
    id: "exportEvents",
    method: "POST",
    path: "/v1/notifications/{messageId}/export_events",
    summary: "Export what happened to each delivery: sent, delivered, opened, clicked, bounced and so on",
    errors: ["HS_QUOTA_EXCEEDED"],
    query: MessageQuery,
    body: CreateEventsExport,
    reply: EventsExport,
    locate: messageOfPath,
    feature: "exports",
    repeatable: {},
    handle: async ({ use, caller, body, resource }) => {
      const made = await use.view(await use.events(caller, resource, body));
      return { body: { ...made, csv_file_url: made.download_url } };
    },
  }),
];
