import { suppressionView } from "#core/domain/suppressions/views.ts";
import {
  CreateSuppression,
  CreateSuppressionResult,
  DeleteSuppressionQuery,
  SuppressionLifted,
  SuppressionListQuery,
  SuppressionPage,
} from "#core/schema/suppressions/suppression.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type SuppressionRow } from "#core/storage/suppressions/suppressions.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { checkForm } from "./checks.ts";
import { docs } from "./openapi.ts";
import { type SuppressionUse, suppressionUseCases } from "./use-cases.ts";

const base = "/v1/apps/{appId}/suppressions";

const route = routeOf<SuppressionUse>({ tag: "Suppressions", scopes: ["notifications:write"] });

/** The entry that the path names. */
const suppressionOfPath = async (located: Located<SuppressionUse>): Promise<SuppressionRow> => {
  return located.use.find(ofApp(await appOfPath(located)), located.params["suppressionId"]);
};

const routes = [
  route({
    id: "listSuppressions",
    method: "GET",
    path: base,
    summary: "List the addresses and users that get no messages",
    query: SuppressionListQuery,
    reply: SuppressionPage,
    locate: appOfPath,
    handle: async ({ use, query, resource, signal }) => ({ body: await use.list(resource, query, signal) }),
  }),

  route({
    id: "createSuppression",
    method: "POST",
    path: base,
    summary: "Suppress an address or a user, or up to 1,000 of them",
    status: [201, 200],
    errors: ["HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: CreateSuppression,
    reply: CreateSuppressionResult,
    locate: appOfPath,
    repeatable: {
      check: ({ body }) => checkForm(body),
      refusesMismatch: true, // the first reply would hide that somebody is not suppressed
      show: async ({ use, resource: app }, id) => suppressionView(await use.find(ofApp(app), id)),
    },
    handle: async ({ use, caller, body, resource: app, once }) => {
      const added = await use.add({ app, limit: caller.plan.suppressions ?? null, once }, body);
      return { body: added.shown, status: "isNew" in added && added.isNew ? 201 : 200 };
    },
  }),

  route({
    id: "deleteSuppression",
    method: "DELETE",
    path: `${base}/{suppressionId}`,
    summary: "Lift a suppression",
    scopes: ["admin"],
    errors: ["HS_NOT_REMOVABLE", "HS_CONFLICT"],
    query: DeleteSuppressionQuery,
    reply: SuppressionLifted,
    locate: suppressionOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.remove(resource, query.force === true) }),
  }),
];

/** Addresses and users that get no messages. */
export const suppressions = feature({ make: suppressionUseCases, routes, ...docs });
