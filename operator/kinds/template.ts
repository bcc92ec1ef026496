import { isDeepStrictEqual } from "node:util";
import { defined } from "#core/domain/defined.ts";
import { type FieldError, ValidationError } from "#core/errors.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { checkDraft } from "#core/runtime/templates/content/draft.ts";
import { parser } from "#core/schema/json/parser.ts";
import { type TemplateSpec, type TemplateStatus, templateResource } from "#core/schema/templates/resource.ts";
import { TemplateContent, templateBounds } from "#core/schema/templates/template.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { draftVersion, type PublishDeps, versionOf, versionsEnd } from "#core/storage/templates/publish.ts";
import { type TemplateRow, type Templates, templateCollection, templates } from "#core/storage/templates/templates.ts";
import { type TemplateVersions, templateVersions } from "#core/storage/templates/versions.ts";
import { type Handler, refusal, type Verdict } from "../engine/handler.ts";
import { beside, isRefused, link } from "../engine/links.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { namedOf } from "../policies/named-members.ts";
import { configMapsOf, contentOf, placeOf } from "../policies/templates/content.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { appLink, inApp, ofApp, withApp } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import type { MayWrite } from "../records/record-deps.ts";
import { planLimit, type WithinPlan, withinPlan } from "../records/within-plan.ts";

type TemplateResource = Resource<TemplateSpec, { id?: string }>;
type Deps = Tools<TemplateResource, TemplateRow> & {
  templates: Templates;
  versions: TemplateVersions;
  withinPlan: WithinPlan<AppRow>;
};

/** Template: a document of its app, and a version of it whenever what it says changes. */
export const template = defineKind<TemplateResource, TemplateRow>({
  definition: templateResource,
  what: "template",
  collection: templateCollection,
  called: ({ db }, { app_id = "", name = "" }) => templates(db).named(app_id, name),
  indexes: {
    name: (one) => [nameOf(one)],
    app: (one) => [beside(one, one.spec.appRef)],
    rendering: (one) => (mayRender(one.spec) ? [beside(one, one.spec.appRef)] : []),
    waiting: (one) => (isRefused(one) && mayRender(one.spec) ? [beside(one, one.spec.appRef)] : []),
  },
  links: [appLink, link(templateResource, "rendering", (one) => partialsAppOf(one))],
  readsConfigMaps: configMapsOf,
  isRecordReported: true,
  handler: (tools) =>
    handler({
      ...tools,
      templates: templates(tools.db),
      versions: templateVersions(tools.db),
      withinPlan: withinPlan(limit(tools), tools.timing),
    }),
});

/** Whatever may render a partial is looked at again when one of its app changes: it may wait for that. */
const partialsAppOf = (one: TemplateResource): string[] =>
  one.spec.kind === "partial" ? [beside(one, one.spec.appRef)] : [];

const mayRender = ({ kind, content, contentFrom }: TemplateSpec): boolean =>
  kind === "message" && (contentFrom !== undefined || (JSON.stringify(content) ?? "").includes("render"));

const limit = ({ db, owners }: Platform) =>
  planLimit({
    owners,
    feature: null,
    things: "templates",
    most: () => templateBounds.templates,
    countOthers: templates(db).countOthers,
  });

const handler = (deps: Deps): Handler<TemplateResource> => {
  const { record } = deps;
  return {
    reconcile: (resource, signal) =>
      withApp(deps, resource, async (app) => {
        const stand = await record.look(resource, inApp(resource, app));
        if (stand.kind === "refused") return record.report(resource, stand, neverAsked, signal);
        const asked = await membersOf(deps, { resource, app, row: stand.row }, signal);
        if (stand.kind === "write")
          return "finding" in asked ? refusal(asked.finding) : apply(deps, { resource, app, stand, ...asked });
        const about = async (row: TemplateRow) => ({
          status: await statusOf(deps, row),
          members: "set" in asked ? asked.set : {},
        });
        return record.report(resource, stand, about, signal);
      }),
    remove: async (resource, signal) => {
      const gone: TemplateRow[] = [];
      const around = {
        before: async (id: string) => {
          gone.push(...(await expireVersions(deps, id)));
          return null;
        },
        after: async () => {
          for (const row of gone) announceUses(deps, row, row.uses);
        },
      };
      return record.drop(resource, around, signal, await ofApp(deps, resource));
    },
  };
};

/** A refused stand describes no record. */
const neverAsked = () => ({ status: {}, members: {} });

type Members = Pick<TemplateRow, "tenant_id" | "app_id" | "name" | "kind" | "content"> &
  Partial<Pick<TemplateRow, "description" | "channels">>;
type Of = { resource: TemplateResource; app: AppRow };

/** The members that are the resource's: the REST interface owns the rest, and publishes what the resource does not. */
const ownOf = ({ description, channels, publish: isPublished }: TemplateSpec): string[] => [
  "name",
  "kind",
  "content",
  ...Object.keys(defined({ description, channels })),
  ...(isPublished ? ["published_version"] : []),
];

/** The record that a resource asks for, its Liquid not yet judged; or what of its content is not there, or of no form. */
const membersOf = async (
  { configMaps }: Deps,
  { resource, app, row }: Of & { row: TemplateRow | null },
  signal: AbortSignal,
): Promise<{ set: Members } | { finding: Finding }> => {
  const { spec, metadata } = resource;
  const read = (name: string) => configMaps.read(metadata.namespace ?? "", name, signal);
  const names = configMapsOf(resource); // at most as many as contentFrom may have
  const texts = new Map(await Promise.all(names.map(async (name) => [name, await read(name)] as const)));
  const said = contentOf(spec, texts);
  if ("finding" in said) return said;
  const { name, kind, description, channels } = spec;
  const named = namedOf(row, { description, channels });
  const own = { tenant_id: app.tenant_id, app_id: app._id, name, kind, ...named };
  return judged(spec, "ContentInvalid", () => ({ set: { ...own, content: parseContent(said.content) } }));
};

const parseContent = parser(TemplateContent, { prefix: "content" });

/** What `make` gives, or the finding about what it refuses, which says where that stands. */
const judged = async <T>(
  spec: TemplateSpec,
  reason: string,
  make: () => T | Promise<T>,
): Promise<T | { finding: Finding }> => {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const { field, message } = error.details as FieldError; // sound: the first fault stands there
    return { finding: refused(reason, `${placeOf(spec, field)}: ${message}`) };
  }
};

type Input = Of & { stand: MayWrite<TemplateRow>; set: Members };

/** Judges all of it, then stores the draft, then publishes that. */
const apply = async (deps: Deps, { resource, app, stand, set }: Input): Promise<Verdict> => {
  const { record, rows } = deps;
  const { spec } = resource;
  const id = record.idOf(resource);
  const { row } = stand;
  const wantedRow = { ...begun(deps, id), ...row, ...set };
  const refusedAs = otherKind(row, spec) ?? (await faultsOf(deps, spec, { before: row, row: wantedRow }));
  if (refusedAs !== null) return refusal(refusedAs, retryMs);
  const version = row === null ? 1 : draftVersion(row, set);
  const begin = { ...unpublished, created_at: deps.clock.now() };
  const wanted = { set: { ...set, version }, begin, names: [nameOf(resource)], members: ownOf(spec) };
  const stored = await deps.withinPlan({ owner: app, id, row }, () => record.keep(resource, stand, wanted));
  if ("verdict" in stored) return stored.verdict;
  const draft = await rows.find(id);
  if (draft === null) throw new Error(`template ${id} was removed while it was written`);
  const isDue = spec.publish && draft.published_version !== draft.version;
  const published = isDue ? await publish(deps, resource, draft) : { kept: stored.kept, row: draft };
  if ("verdict" in published) return published.verdict;
  return record.kept(resource, published, await statusOf(deps, published.row));
};

const retryMs = 30_000; // the REST interface may publish a partial that it renders, and what that announces may get lost

/** A template before it is stored: what faults are looked for in. */
const begun = ({ clock }: Deps, _id: string) => {
  const now = clock.now();
  return { _id, version: 1, ...unpublished, managed: null, created_at: now, updated_at: now };
};

const unpublished = { description: null, channels: null, published_version: null, uses: [] };

/** What keeps a template from being stored, or published where that is asked for; what is so already was judged before. */
const faultsOf = async (
  deps: Deps,
  spec: TemplateSpec,
  { before, row }: { before: TemplateRow | null; row: TemplateRow },
): Promise<Finding | null> => {
  const isSame = isDeepStrictEqual(before?.content, row.content);
  if (isSame && (!spec.publish || before?.published_version === before?.version)) return null;
  const verdict = await judged(spec, "TemplateInvalid", async () => {
    if (spec.publish) await versionOf(publishing(deps), row, deps.clock.now());
    else checkDraft(row);
    return null;
  });
  return verdict === null ? null : verdict.finding;
};

const publishing = ({ templates, versions, mjml }: Deps): PublishDeps => ({ templates, versions, mjml });

/** The version is stored before the template says that there is one. */
const publish = async (deps: Deps, resource: TemplateResource, row: TemplateRow) => {
  const { record, versions, clock } = deps;
  const made = await judged(resource.spec, "TemplateInvalid", () => versionOf(publishing(deps), row, clock.now()));
  if ("finding" in made) return { verdict: refusal(made.finding, retryMs) };
  deps.fence.check();
  await versions.keep(made);
  const set = { published_version: row.version, uses: made.partials.map(({ id }) => id) };
  const members = ownOf(resource.spec);
  const result = await record.keep(resource, { kind: "write", row, isConfirmed: true }, { set, begin: {}, members });
  if ("verdict" in result) return result;
  announceUses(deps, row, [...row.uses, ...set.uses]);
  await versions.expire(row, row.version - templateBounds.versions, versionsEnd(clock.now()));
  return { ...result, row: { ...row, ...set } };
};

/** The partials' statuses say what uses them. */
const announceUses = (
  { announce }: Pick<Deps, "announce">,
  { app_id }: TemplateRow,
  partials: readonly string[],
): void => {
  for (const id of new Set(partials)) announce(templateCollection.name, id, app_id);
};

const statusOf = async ({ templates: store }: Deps, row: TemplateRow): Promise<Partial<TemplateStatus>> => {
  const usedBy = await store.usersOf(row, templateBounds.usedBy);
  return {
    appId: row.app_id,
    version: row.version,
    ...(row.published_version !== null && { publishedVersion: row.published_version }),
    ...(usedBy.length > 0 && { usedBy }),
  };
};

/** Messages may still have to be rendered of what a template said. */
const expireVersions = async ({ rows, versions, fence, clock }: Deps, id: string): Promise<TemplateRow[]> => {
  const row = await rows.find(id);
  fence.check();
  if (row === null) return [];
  await versions.expire(row, Number.MAX_SAFE_INTEGER, versionsEnd(clock.now()));
  return [row];
};

/** A template that is taken over stays of its kind. */
const otherKind = (row: TemplateRow | null, { kind }: TemplateSpec): Finding | null =>
  row === null || row.kind === kind
    ? null
    : refused(
        "KindDiffers",
        `spec.kind: the template is a ${row.kind}, and stays one: spec.kind has to be ${row.kind}`,
      );

/** The template's name, which is unique in its app. */
const nameOf = (one: TemplateResource): string => `${beside(one, one.spec.appRef)}/${one.spec.name}`;
