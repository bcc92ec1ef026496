import { PersonalDataOrExport } from "#core/schema/exports/person.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import type { ExportUse } from "./use-cases.ts";

const route = routeOf<ExportUse>({ tag: "Users and subscriptions", scopes: ["admin"] });

/** The user that the path names by one of their ids. */
const userOfPath = async (located: Located<ExportUse>): Promise<UserRow> => {
  const app = await appOfPath(located);
  const { label = "", id = "" } = located.params;
  return existing(await located.use.findUser(ofApp(app), label, id), "user");
};

export const personExportRoutes = [
  route({
    id: "getPersonalData",
    method: "GET",
    path: "/v1/apps/{appId}/users/by/{label}/{id}/data",
    summary: "Show all that is stored about a user; what is too much for a reply is exported (202)",
    status: [200, 202],
    errors: ["HS_QUOTA_EXCEEDED"],
    reply: PersonalDataOrExport,
    locate: userOfPath,
    handle: async ({ use, caller, resource }) => {
      const found = await use.ofPerson(caller, resource);
      return "data" in found ? { body: found.data } : { status: 202, body: await use.view(found.made) };
    },
  }),
];
