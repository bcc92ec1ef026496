import { App, AppList, CreateApp, UpdateApp } from "#core/schema/apps/app.ts";
import { ofOrganisation } from "../access/of-organisation.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import { appView } from "./apps.ts";
import type { AppUse } from "./use-cases.ts";

const route = routeOf<AppUse>({ tag: "Apps", scopes: ["admin"] });

export const appRoutes = [
  route({
    id: "listApps",
    method: "GET",
    path: "/v1/apps",
    summary: "List the apps that the key is for",
    reply: AppList,
    handle: async ({ use, caller }) => ({ body: { data: await use.apps.list(caller) } }),
  }),

  route({
    id: "createApp",
    method: "POST",
    path: "/v1/apps",
    summary: "Make an app",
    status: [201],
    errors: ["HS_ALREADY_EXISTS", "HS_QUOTA_EXCEEDED"],
    body: CreateApp,
    reply: App,
    locate: ofOrganisation,
    repeatable: {
      made: async ({ use, caller, newId }) => {
        const made = await use.apps.made(caller, newId("app"));
        return made === null ? null : { body: made };
      },
    },
    handle: async ({ use, caller, ip, requestId, body, newId }) => ({
      body: await use.apps.create({ caller, ip, requestId }, newId("app"), body),
    }),
  }),

  route({
    id: "getApp",
    method: "GET",
    path: "/v1/apps/{appId}",
    summary: "Show an app",
    reply: App,
    locate: appOfPath,
    handle: async ({ resource: app }) => ({ body: appView(app) }),
  }),

  route({
    id: "updateApp",
    method: "PATCH",
    path: "/v1/apps/{appId}",
    summary: "Change an app's name or time zone",
    errors: ["HS_MANAGED", "HS_CONFLICT", "HS_ALREADY_EXISTS"],
    body: UpdateApp,
    reply: App,
    locate: appOfPath,
    handle: async ({ use, caller, ip, requestId, body, resource: app }) => ({
      body: await use.apps.update({ caller, ip, requestId }, app, body),
    }),
  }),
];
