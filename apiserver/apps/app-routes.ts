import { App, AppList, CreateApp, UpdateApp } from "#core/schema/apps/app.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofOrganisation } from "../access/of-organisation.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { appView } from "./apps.ts";
import type { AppUse } from "./use-cases.ts";

const route = routeOf<AppUse>({ tag: "Apps", scopes: ["admin"] });

/** The app that the path names, also when its own row is gone and its data is going. */
const appThereOrGoing = async ({
  use,
  caller,
  params,
}: Located<AppUse>): Promise<{ app: AppRow | null; shown: App }> => {
  const id = params["appId"] ?? "";
  const app = await use.apps.there(caller, id);
  return { app, shown: app === null ? await use.apps.removed(caller, id) : appView(app) };
};

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
    summary: "Show an app; one that is being removed says how far that has come",
    reply: App,
    locate: appThereOrGoing,
    handle: async ({ resource: { shown } }) => ({ body: shown }),
  }),

  route({
    id: "deleteApp",
    method: "DELETE",
    path: "/v1/apps/{appId}",
    summary: "Remove an app with everything that belongs to it",
    status: [202],
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: App,
    locate: async (located) => {
      const found = await appThereOrGoing(located); // first: another's is not there
      await ofOrganisation(located);
      return found;
    },
    handle: async ({ use, caller, ip, requestId, resource: { app, shown } }) => {
      if (app === null) return { body: shown };
      await use.apps.remove({ caller, ip, requestId }, app);
      return { body: await use.apps.removed(caller, app._id) };
    },
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
