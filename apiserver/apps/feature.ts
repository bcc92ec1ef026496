import { AppSettings, UpdateAppSettings } from "#core/schema/apps/settings.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import { appRoutes } from "./app-routes.ts";
import { channelRoutes } from "./channel-routes.ts";
import { docs } from "./openapi.ts";
import { type AppUse, appUseCases } from "./use-cases.ts";

const settingsPath = "/v1/apps/{appId}/settings";

const route = routeOf<AppUse>({ tag: "Apps", scopes: ["admin"] });

const routes = [
  route({
    id: "getAppSettings",
    method: "GET",
    path: settingsPath,
    summary: "Show the settings of an app, each with the value that counts",
    reply: AppSettings,
    locate: appOfPath,
    handle: async ({ use, resource: app }) => ({ body: await use.settings.show(app) }),
  }),

  route({
    id: "updateAppSettings",
    method: "PATCH",
    path: settingsPath,
    summary: "Change settings of an app; null has the default count again",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    body: UpdateAppSettings,
    reply: AppSettings,
    locate: appOfPath,
    handle: async ({ use, caller, ip, requestId, body, resource: app }) => ({
      body: await use.settings.update({ caller, ip, requestId }, app, body),
    }),
  }),
];

/** Accounts of apps at providers: what they are set up with, and whether they work. */
export const apps = feature({ make: appUseCases, routes: [...appRoutes, ...channelRoutes, ...routes], ...docs });
