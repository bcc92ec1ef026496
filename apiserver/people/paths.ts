import { ofApp } from "#core/storage/mongo/collection.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import type { People } from "./use-cases.ts";

export const base = "/v1/apps/{appId}";
export const ofUser = `${base}/users/by/{label}/{id}`;

export const route = routeOf<People>({ tag: "Users and subscriptions", scopes: ["admin"] });

/** The user that the path names by one of their ids. */
export const userOfPath = async (located: Located<People>): Promise<UserRow> => {
  const app = await appOfPath(located);
  const { label = "", id = "" } = located.params;
  return existing(await located.use.findUser(ofApp(app), label, id), "user");
};
