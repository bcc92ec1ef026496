import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import {
  CreateSuppression,
  CreateSuppressionResult,
  DeleteSuppressionQuery,
  SuppressionLifted,
  SuppressionListQuery,
  SuppressionPage,
} from "#core/schema/suppressions/suppression.ts";
import { targets } from "#core/storage/messages/targets.ts";
import { contactSubscriptions } from "#core/storage/people/ended.ts";
import { subscriptions } from "#core/storage/people/subscriptions.ts";
import { suppressionKeys } from "#core/storage/suppressions/keys.ts";
import { type SuppressionRow, suppressions as suppressionStore } from "#core/storage/suppressions/suppressions.ts";
import { feature } from "../http/feature.ts";
import { appOfPath, existing } from "../http/locate.ts";
import type { Cursors } from "../http/pages.ts";
import { type Located, routeOf } from "../http/route.ts";
import { addSuppressions } from "./add.ts";
import { checkForm } from "./checks.ts";
import { listSuppressions } from "./list.ts";
import { docs } from "./openapi.ts";
import { removeSuppression } from "./remove.ts";
import { suppressionView } from "./views.ts";

type SuppressionPlatform = { db: Db; secrets: Pick<KeyRing, "seal" | "open">; cursors: Cursors; clock: Clock };

const make = ({ db, secrets, cursors, clock }: SuppressionPlatform) => {
  const suppressions = suppressionStore(db);
  const subjectsOf = suppressionKeys(db, secrets, clock);
  return {
    find: async (tenantId: string, appId: string, id = ""): Promise<SuppressionRow> =>
      existing(await suppressions.find({ tenantId, appId }, id, clock.now()), "suppression"),
    list: listSuppressions({ suppressions, subjectsOf, cursors, clock }),
    add: addSuppressions({
      suppressions,
      subjectsOf,
      subscriptions: subscriptions(db),
      targets: targets(db),
      clock,
    }),
    remove: removeSuppression({ suppressions, subscriptions: contactSubscriptions(db), clock }),
  };
};

type Use = ReturnType<typeof make>;

const ofApp = "/v1/apps/{appId}/suppressions";

const route = routeOf<Use>({ tag: "Suppressions", scopes: ["notifications:write"] });

/** The entry that the path names. */
const suppressionOfPath = async (located: Located<Use>): Promise<SuppressionRow> => {
  const { tenant_id: tenantId, _id: appId } = await appOfPath(located);
  return located.use.find(tenantId, appId, located.params["suppressionId"]);
};

const routes = [
  route({
    id: "listSuppressions",
    method: "GET",
    path: ofApp,
    summary: "List the addresses and users that get no messages",
    query: SuppressionListQuery,
    reply: SuppressionPage,
    locate: appOfPath,
    handle: async ({ use, query, resource, signal }) => ({ body: await use.list(resource, query, signal) }),
  }),

  route({
    id: "createSuppression",
    method: "POST",
    path: ofApp,
    summary: "Suppress an address or a user, or up to 1,000 of them",
    status: [201, 200],
    errors: ["HS_CONFLICT", "HS_QUOTA_EXCEEDED"],
    body: CreateSuppression,
    reply: CreateSuppressionResult,
    locate: appOfPath,
    repeatable: {
      check: ({ body }) => checkForm(body),
      refusesMismatch: true, // the first reply would hide that somebody is not suppressed
      show: async ({ use, resource: app }, id) => suppressionView(await use.find(app.tenant_id, app._id, id)),
    },
    handle: async ({ use, caller, body, resource: app, once }) => {
      const added = await use.add({ app, limit: caller.plan.suppressions ?? null, once }, body);
      return { body: added.shown, status: "isNew" in added && added.isNew ? 201 : 200 };
    },
  }),

  route({
    id: "deleteSuppression",
    method: "DELETE",
    path: `${ofApp}/{suppressionId}`,
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
export const suppressions = feature({ make, routes, ...docs });
