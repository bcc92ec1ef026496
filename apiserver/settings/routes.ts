import type { Static, TObject, TSchema } from "typebox";
import type { ErrorCode } from "#core/errors.ts";
import { OkReply } from "#core/schema/json/error.ts";
import type { IdKind } from "#core/schema/vocabulary/id-prefixes.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { Scope } from "#core/schema/vocabulary/scopes.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { Caller } from "../access/caller.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import type { By } from "./audit.ts";

/** The schemas of one kind of settings: bodies of requests, and replies. */
type Schemas = {
  create: TSchema;
  update: TSchema;
  view: TSchema;
  made: TSchema;
  list: TSchema;
  /** What a page of the list is asked for with; left out: the list has no pages. */
  query?: TObject;
};

type QueryOf<S extends Schemas> = S extends { query: infer Query extends TObject } ? Static<Query> : never;

/** What the usual operations on settings of one kind use. */
type Use<Row, S extends Schemas> = Find<Row> & {
  ofApp: (of: OfApp) => Promise<Row[]>;
  /** One page of an app's, of a list that has pages. */
  page?: (app: AppRow, query: QueryOf<S>) => Promise<Static<S["list"]>>;
  view: (row: Row) => Static<S["view"]>;
  /** As the reply to its creation shows it. */
  viewMade: (row: Row) => Static<S["made"]> | Promise<Static<S["made"]>>;
  /** Throws when it could never be made, whatever there is: also for a repeat. */
  check?: (body: Static<S["create"]>) => void;
  create: (by: By, app: AppRow, id: string, body: Static<S["create"]>) => Promise<Row>;
  update: (by: By, found: Row, body: Static<S["update"]>) => Promise<Row>;
  remove: (by: By, found: Row) => Promise<void>;
  requireRoom: (caller: Caller, app: AppRow) => Promise<void>;
};

type Find<Row> = { find: (of: OfApp, id: string) => Promise<Row | null> };

type SettingKind<S extends Schemas> = {
  /** As its schema is named, such as `Webhook`: `createWebhook`, `listWebhooks`. */
  name: string;
  /** In words, for who does not find it. */
  what: string;
  tag: string;
  /** Where all of an app are, and the parameter that names one of them. */
  path: string;
  parameter: string;
  idKind: IdKind;
  /** What making and changing need of the plan; left out: every plan has it. */
  feature?: PlanFeature;
  /** Scopes that suffice for reading, besides `admin`. */
  reading?: readonly Scope[];
  schemas: S;
  summaries: { list: string; create: string; get: string; update: string; remove: string };
  /** Error codes of the creation, besides those of plans and limits. */
  errors?: readonly ErrorCode[];
};

/**
 * The usual operations on settings of one kind, for `admin`: on its rows and with its schemas. Reading and removing what
 * there is needs no plan; making and changing does. An attempt to make one that was cut short is found again by the id
 * that it would have.
 */
export const settingRoutes = <Row, S extends Schemas>(kind: SettingKind<S>) => ({
  ...routesOfAll<Row, S>(kind),
  ...routesOfOne<Row, S>(kind),
});

/** The one that a path names. */
export const locateSetting =
  <Row>({ what, parameter }: { what: string; parameter: string }) =>
  async ({ use, ...located }: Located<Find<Row>>): Promise<Row> => {
    const of = ofApp(await appOfPath(located));
    return existing(await use.find(of, located.params[parameter] ?? ""), what);
  };

type ForApp<Row, S extends Schemas> = { use: Use<Row, S>; caller: Caller; resource: AppRow };

const routesOfAll = <Row, S extends Schemas>(kind: SettingKind<S>) => {
  const { name, tag, path, idKind, feature, schemas, summaries, errors = [], reading = [] } = kind;
  const route = routeOf<Use<Row, S>>({ tag, scopes: ["admin"] });
  const common = { path, locate: appOfPath };
  const requireRoom = ({ use, caller, resource }: ForApp<Row, S>): Promise<void> => use.requireRoom(caller, resource);
  const inPlan = feature === undefined ? {} : { feature, inPlan: requireRoom };
  return {
    list: route<TSchema, TObject, S["list"], AppRow>({
      ...common,
      id: `list${name}s`,
      method: "GET",
      summary: summaries.list,
      scopes: [...reading, "admin"],
      ...(schemas.query !== undefined && { query: schemas.query }),
      reply: schemas.list,
      handle: async ({ use, resource, query }) => ({
        body: use.page
          ? await use.page(resource, query as QueryOf<S>) // sound: parsed by that very schema
          : ({ data: (await use.ofApp(ofApp(resource))).map(use.view) } as Static<S["list"]>), // sound: what a list without pages is
      }),
    }),

    create: route<S["create"], TObject, S["made"], AppRow>({
      ...common,
      id: `create${name}`,
      method: "POST",
      summary: summaries.create,
      status: [201],
      errors: [...errors, "HS_QUOTA_EXCEEDED"],
      body: schemas.create,
      reply: schemas.made,
      ...inPlan,
      repeatable: {
        check: ({ use, body }) => use.check?.(body),
        made: async ({ use, resource, newId }) => {
          const made = await use.find(ofApp(resource), newId(idKind));
          return made === null ? null : { body: await use.viewMade(made) };
        },
      },
      handle: async ({ use, caller, ip, requestId, body, resource, newId }) => ({
        body: await use.viewMade(await use.create({ caller, ip, requestId }, resource, newId(idKind), body)),
      }),
    }),
  };
};

const routesOfOne = <Row, S extends Schemas>(kind: SettingKind<S>) => {
  const { name, what, tag, path, parameter, feature, schemas, summaries, reading = [] } = kind;
  const route = routeOf<Use<Row, S>>({ tag, scopes: ["admin"] });
  const common = { path: `${path}/{${parameter}}`, locate: locateSetting<Row>({ what, parameter }) };
  const errors = ["HS_MANAGED", "HS_CONFLICT"] as const;
  const inPlan = feature === undefined ? {} : { feature };
  return {
    get: route({
      ...common,
      id: `get${name}`,
      method: "GET",
      summary: summaries.get,
      scopes: [...reading, "admin"],
      reply: schemas.view,
      handle: async ({ use, resource }) => ({ body: use.view(resource) }),
    }),

    update: route<S["update"], TObject, S["view"], Row>({
      ...common,
      id: `update${name}`,
      method: "PATCH",
      summary: summaries.update,
      errors,
      body: schemas.update,
      reply: schemas.view,
      ...inPlan,
      handle: async ({ use, caller, ip, requestId, body, resource }) => ({
        body: use.view(await use.update({ caller, ip, requestId }, resource, body)),
      }),
    }),

    remove: route({
      ...common,
      id: `delete${name}`,
      method: "DELETE",
      summary: summaries.remove,
      errors,
      reply: OkReply,
      handle: ({ use, caller, ip, requestId, resource }) => done(use.remove({ caller, ip, requestId }, resource)),
    }),
  };
};
