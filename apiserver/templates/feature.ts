import { OkReply } from "#core/schema/json/error.ts";
import { RenderTemplate, RenderTemplateResult } from "#core/schema/templates/render.ts";
import {
  CreateTemplate,
  DeleteTemplateQuery,
  Template,
  TemplateListQuery,
  TemplatePage,
  TemplateVersion,
  TemplateVersionListQuery,
  TemplateVersionPage,
  UpdateTemplate,
} from "#core/schema/templates/template.ts";
import type { TemplateRow } from "#core/storage/templates/templates.ts";
import { feature } from "../http/feature.ts";
import { appOfPath, existing } from "../http/locate.ts";
import { done, type Located, routeOf } from "../http/route.ts";
import { locateSetting, settingRoutes } from "../settings/routes.ts";
import { docs } from "./openapi.ts";
import { type TemplateUse, templateUse } from "./use-cases.ts";
import { versionView } from "./views.ts";

const ofApp = "/v1/apps/{appId}/templates";
const ofTemplate = `${ofApp}/{templateId}`;
const tag = "Templates";

const summaries = {
  create: "Make a template, as a draft",
  update: "Change a template: what it says from then on is a draft",
  list: "List the templates of an app, without what they say",
  get: "Show a template with its draft, or with what is published when there is none",
  remove: "Remove a template; messages that took it are sent all the same",
} as const;

const schemas = { create: CreateTemplate, update: UpdateTemplate, view: Template, made: Template, list: TemplatePage };

/** Of these, making one is as it is for every setting. */
const usual = settingRoutes<TemplateRow, typeof schemas>({
  name: "Template",
  what: "template",
  tag,
  path: ofApp,
  parameter: "templateId",
  idKind: "template",
  schemas,
  summaries,
  errors: ["HS_ALREADY_EXISTS"],
});

const route = routeOf<TemplateUse>({ tag, scopes: ["admin"] });

/** The template that the path names. */
const templateOfPath = locateSetting<TemplateRow>({ what: "template", parameter: "templateId" });

/** The published version that the path names. */
const versionOfPath = async (located: Located<TemplateUse>) => {
  const { tenant_id: tenantId, app_id: appId, _id, published_version: newest } = await templateOfPath(located);
  const version = Number(located.params["version"]);
  const isPublished = Number.isInteger(version) && version <= (newest ?? 0);
  return existing(isPublished ? await located.use.versions.find({ tenantId, appId }, _id, version) : null, "version");
};

const routes = [
  route({
    id: "listTemplates",
    method: "GET",
    path: ofApp,
    summary: summaries.list,
    query: TemplateListQuery,
    reply: TemplatePage,
    locate: appOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.list(resource, query) }),
  }),

  usual.create,

  route({
    id: "getTemplate",
    method: "GET",
    path: ofTemplate,
    summary: summaries.get,
    reply: Template,
    locate: templateOfPath,
    handle: async ({ use, resource }) => ({ body: await use.shown(resource) }),
  }),

  route({
    id: "updateTemplate",
    method: "PATCH",
    path: ofTemplate,
    summary: summaries.update,
    errors: ["HS_MANAGED", "HS_CONFLICT", "HS_ALREADY_EXISTS"],
    body: UpdateTemplate,
    reply: Template,
    locate: templateOfPath,
    handle: async ({ use, caller, ip, requestId, body, resource }) => ({
      body: await use.shown(await use.update({ caller, ip, requestId }, resource, body)),
    }),
  }),

  route({
    id: "deleteTemplate",
    method: "DELETE",
    path: ofTemplate,
    summary: summaries.remove,
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    query: DeleteTemplateQuery,
    reply: OkReply,
    locate: templateOfPath,
    handle: ({ use, caller, ip, requestId, query, resource }) =>
      done(use.removeTemplate({ caller, ip, requestId }, resource, query.force === true)),
  }),

  route({
    id: "publishTemplate",
    method: "POST",
    path: `${ofTemplate}/publish`,
    summary: "Publish a template's draft as its next version",
    errors: ["HS_MANAGED", "HS_CONFLICT"],
    reply: Template,
    locate: templateOfPath,
    repeatable: {},
    handle: async ({ use, caller, ip, requestId, resource }) => ({
      body: await use.shown(await use.publish({ caller, ip, requestId }, resource)),
    }),
  }),

  route({
    id: "renderTemplate",
    method: "POST",
    path: `${ofTemplate}/render`,
    summary: "Show what a template says to a person, or with given data",
    body: RenderTemplate,
    reply: RenderTemplateResult,
    locate: async (located: Located<TemplateUse>) => ({
      app: await appOfPath(located),
      template: await templateOfPath(located),
    }),
    handle: async ({ use, body, resource: { app, template } }) => ({ body: await use.render(app, template, body) }),
  }),

  route({
    id: "listTemplateVersions",
    method: "GET",
    path: `${ofTemplate}/versions`,
    summary: "List the published versions of a template, the newest first, without what they say",
    query: TemplateVersionListQuery,
    reply: TemplateVersionPage,
    locate: templateOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.listVersions(resource, query) }),
  }),

  route({
    id: "getTemplateVersion",
    method: "GET",
    path: `${ofTemplate}/versions/{version}`,
    summary: "Show what a template said in a version",
    reply: TemplateVersion,
    locate: versionOfPath,
    handle: async ({ resource }) => ({ body: versionView(resource) }),
  }),
];

/** What messages say, kept under a name: drafts, versions and partials. */
export const templates = feature({ make: templateUse, routes, ...docs });
