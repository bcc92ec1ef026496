import { ChannelAccount, ChannelAccountList } from "#core/schema/apps/account.ts";
import { AppSettings, UpdateAppSettings } from "#core/schema/apps/settings.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { appRoutes } from "./app-routes.ts";
import { docs } from "./openapi.ts";
import { type AppUse, appUseCases } from "./use-cases.ts";
import { type Shown } from "./views.ts";

type Named = { app: AppRow; account: Shown };

const ofApp = "/v1/apps/{appId}/channels";
const settingsPath = "/v1/apps/{appId}/settings";

const route = routeOf<AppUse>({ tag: "Apps", scopes: ["admin"] });

/** The account that the path names. */
const accountOfPath = async (located: Located<AppUse>): Promise<Named> => {
  const app = await appOfPath(located);
  return { app, account: await located.use.find(app, located.params["channel"]) };
};

const routes = [
  route({
    id: "listChannels",
    method: "GET",
    path: ofApp,
    summary: "List the channels that an app has an account for, and what testing each came to",
    reply: ChannelAccountList,
    locate: appOfPath,
    handle: async ({ use, resource: app }) => ({ body: { data: await use.list(app) } }),
  }),

  route({
    id: "testChannel",
    method: "POST",
    path: `${ofApp}/{channel}/test`,
    summary: "Have the provider asked whether it takes the account; the list has the result in seconds",
    status: [202],
    reply: ChannelAccount,
    locate: accountOfPath,
    repeatable: {},
    handle: async ({ use, resource: { app, account } }) => {
      await use.test(app, account);
      return { body: account };
    },
  }),

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
export const apps = feature({ make: appUseCases, routes: [...appRoutes, ...routes], ...docs });
