import { exampleTime } from "#core/schema/events/refs.ts";
import type { RenderTemplate, RenderTemplateResult } from "#core/schema/templates/render.ts";
import type {
  CreateTemplate,
  Template,
  TemplateSummary,
  TemplateVersion,
  TemplateVersionSummary,
  UpdateTemplate,
} from "#core/schema/templates/template.ts";
import type { Docs } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const content = {
  headings: { en: "{{ custom_data.shop }}" },
  contents: { en: 'Hello {{ user.tags.name | default: "there" }}, your order {{ custom_data.order }} is on its way.' },
};
const id = "tpl_01JDKQ4WSM5Q8RDV2K7NXW0HTA";

const summary: TemplateSummary = {
  id,
  app_id: "app_01JDKQ4WSM3ZC8V5T0RN2XEKBH",
  name: "order-shipped",
  kind: "message",
  description: null,
  channels: ["ios_push", "android_push"],
  version: 2,
  status: "published",
  published_version: 2,
  managed: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};
const template: Template = { ...summary, content, used_by: [] };
const listedVersion: TemplateVersionSummary = {
  template_id: id,
  version: 2,
  channels: summary.channels,
  partials: [],
  published_at: exampleTime,
};
const version: TemplateVersion = { ...listedVersion, content };

const renderedOn: RenderTemplateResult["channels"][number] = {
  channel: "ios_push",
  content: { headings: { en: "Shop" }, contents: { en: "Hello Ann, your order 4711 is on its way." } },
  bytes: 121,
  limit_bytes: 4096,
  missing_variables: [],
  aborted: null,
  errors: [],
};

/** What the OpenAPI document says of templates beside their operations. */
export const docs: Docs = {
  tags: {
    Templates: "What messages say, kept under a name: drafts, published versions, and partials that they share.",
  },
  examples: {
    CreateTemplate: [
      { name: summary.name, channels: ["ios_push", "android_push"], content },
      { name: "footer", kind: "partial", content: { contents: { en: "Sent by {{ app.name }}" } } },
    ] satisfies CreateTemplate[],
    UpdateTemplate: [{ content }] satisfies UpdateTemplate[],
    Template: [template],
    TemplateContent: [content],
    TemplateSummary: [summary],
    TemplatePage: [{ data: [summary], next_cursor: null, has_more: false }],
    TemplateVersion: [version],
    TemplateVersionSummary: [listedVersion],
    RenderTemplate: [
      { user: { label: "external_id", id: "customer-4711" }, data: { custom_data: { order: "4711" } } },
      { data: { custom_data: {} }, language: "en", channel: "ios_push" },
    ] satisfies RenderTemplate[],
    RenderedTemplate: [renderedOn],
    RenderTemplateResult: [{ channels: [renderedOn] }],
    TemplateVersionPage: [{ data: [listedVersion], next_cursor: null, has_more: false }],
  },
  pathParameters: {
    templateId: pathPart("id of a template", id),
    version: pathPart("number of a published version", "2"),
  },
  queryExamples: { kind: "message", force: true },
};
