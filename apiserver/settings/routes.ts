import type { Static, TSchema } from "typebox";
import type { ErrorCode } from "#core/errors.ts";
import { OkReply } from "#core/schema/json/error.ts";
import type { IdKind } from "#core/schema/vocabulary/id-prefixes.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { type Declared, done, type Located, routeOf } from "../http/route.ts";
import type { By } from "./audit.ts";

/** What the usual operations on settings of one kind use. */
type Use<Row, Create, Update, View, Made> = {
  ofApp: (tenantId: string, appId: string) => Promise<Row[]>;
  find: (tenantId: string, appId: string, id: string) => Promise<Row | null>;
  view: (row: Row) => View;
  /** As the reply to its creation shows it. */
  viewMade: (row: Row) => Made;
  /** Throws when it could never be made, whatever there is: also for a repeat. */
  check?: (body: Create) => void;
  create: (by: By, app: AppRow, id: string, body: Create) => Promise<Row>;
  update: (by: By, found: Row, body: Update) => Promise<Row>;
  remove: (by: By, found: Row) => Promise<void>;
  requireRoom: (caller: Caller, app: AppRow) => Promise<void>;
};

type Said<Create extends TSchema, Update extends TSchema, View extends TSchema, Made extends TSchema> = {
  /** As its schema is named, such as `Webhook`: `createWebhook`, `listWebhooks`. */
  name: string;
  /** In words, for who does not find it. */
  what: string;
  tag: string;
  /** Where all of an app are, and the parameter that names one of them. */
  path: string;
  parameter: string;
  idKind: IdKind;
  /** What making and changing need of the plan. */
  feature: PlanFeature;
  schemas: { create: Create; update: Update; view: View; made: Made; list: TSchema };
  summaries: { list: string; create: string; get: string; update: string; remove: string };
  /** Error codes of the creation, besides those of plans and limits. */
  errors?: readonly ErrorCode[];
};

/**
 * The usual operations on settings of one kind, for `admin`. Reading and removing what there is needs no plan; making and
 * changing does. An attempt to make one that was cut short is found again by the id that it would have.
 */
export const settingRoutes =
  <Row>() =>
  <Create extends TSchema, Update extends TSchema, View extends TSchema, Made extends TSchema>(
    said: Said<Create, Update, View, Made>,
  ) => {
    type Typed = Declared<Use<Row, Static<Create>, Static<Update>, Static<View>, Static<Made>>>;
    const routes = { ...routesOfAll(said), ...routesOfOne(said) };
    return routes as Record<keyof typeof routes, unknown> as Record<keyof typeof routes, Typed>; // sound: these are said's schemas
  };

/** The one that a path names. */
export const locateSetting =
  ({ what, parameter }: { what: string; parameter: string }) =>
  async <Row>({ use, ...located }: Located<Pick<Use<Row, never, never, unknown, unknown>, "find">>): Promise<Row> => {
    const { tenant_id: tenantId, _id: appId } = await appOfPath(located);
    return existing(await use.find(tenantId, appId, located.params[parameter] ?? ""), what);
  };

type AnySaid = Said<TSchema, TSchema, TSchema, TSchema>;

type AnyUse = Use<unknown, unknown, unknown, unknown, unknown>;

const routesOfAll = ({ name, tag, path, idKind, feature, schemas, summaries, errors = [] }: AnySaid) => {
  const route = routeOf<AnyUse>({ tag, scopes: ["admin"] });
  const common = { path, locate: appOfPath };
  return {
    list: route({
      ...common,
      id: `list${name}s`,
      method: "GET",
      summary: summaries.list,
      reply: schemas.list,
      handle: async ({ use, resource }) => ({
        body: { data: (await use.ofApp(resource.tenant_id, resource._id)).map(use.view) },
      }),
    }),

    create: route({
      ...common,
      id: `create${name}`,
      method: "POST",
      summary: summaries.create,
      status: [201],
      errors: [...errors, "HS_QUOTA_EXCEEDED"],
      body: schemas.create,
      reply: schemas.made,
      feature,
      inPlan: ({ use, caller, resource }) => use.requireRoom(caller, resource),
      repeatable: {
        check: ({ use, body }) => use.check?.(body),
        made: async ({ use, resource, newId }) => {
          const made = await use.find(resource.tenant_id, resource._id, newId(idKind));
          return made === null ? null : { body: use.viewMade(made) };
        },
      },
      handle: async ({ use, caller, ip, body, resource, newId }) => ({
        body: use.viewMade(await use.create({ caller, ip }, resource, newId(idKind), body)),
      }),
    }),
  };
};

const routesOfOne = ({ name, what, tag, path, parameter, feature, schemas, summaries }: AnySaid) => {
  const route = routeOf<AnyUse>({ tag, scopes: ["admin"] });
  const common = { path: `${path}/{${parameter}}`, locate: locateSetting({ what, parameter }) };
  const errors = ["HS_MANAGED", "HS_CONFLICT"] as const;
  return {
    get: route({
      ...common,
      id: `get${name}`,
      method: "GET",
      summary: summaries.get,
      reply: schemas.view,
      handle: async ({ use, resource }) => ({ body: use.view(resource) }),
    }),

    update: route({
      ...common,
      id: `update${name}`,
      method: "PATCH",
      summary: summaries.update,
      errors,
      body: schemas.update,
      reply: schemas.view,
      feature,
      handle: async ({ use, caller, ip, body, resource }) => ({
        body: use.view(await use.update({ caller, ip }, resource, body)),
      }),
    }),

    remove: route({
      ...common,
      id: `delete${name}`,
      method: "DELETE",
      summary: summaries.remove,
      errors,
      reply: OkReply,
      handle: ({ use, caller, ip, resource }) => done(use.remove({ caller, ip }, resource)),
    }),
  };
};
