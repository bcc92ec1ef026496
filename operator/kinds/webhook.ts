import { filterProblems } from "#core/domain/webhooks/filter.ts";
import type { Resource } from "#core/runtime/kube/objects.ts";
import { templateProblem } from "#core/runtime/templates/engine.ts";
import { type WebhookSpec, type WebhookStatus, webhookResource } from "#core/schema/webhooks/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { endpointPlaces } from "#core/storage/webhooks/places.ts";
import { type WebhookStats, webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { removals, webhookRemoval } from "#core/storage/work/removals.ts";
import { type Handler, refusal, type Verdict } from "../engine/handler.ts";
import { beside } from "../engine/links.ts";
import { type FoundSecret, secretValues } from "../kube/secrets.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { addressProblem } from "../policies/webhooks/address.ts";
import { headerSecretsOf, headersOf, sealHeaders } from "../policies/webhooks/headers.ts";
import { healthStatus } from "../policies/webhooks/health.ts";
import { beginning, deciding, membersOf, stateOf } from "../policies/webhooks/row.ts";
import { signingOf } from "../policies/webhooks/signing-secret.ts";
import { disabled, statusOf } from "../policies/webhooks/status.ts";
import { defineKind, type Tools } from "../records/kind.ts";
import { ownSecret } from "../records/own-secret.ts";
import { appLink, appOf, inApp, ofApp, withApp } from "../records/owner-refs.ts";
import type { Platform } from "../records/platform.ts";
import type { MayWrite } from "../records/record-deps.ts";
import { planLimit, type WithinPlan, withinPlan } from "../records/within-plan.ts";

type Webhook = Resource<WebhookSpec, WebhookStatus>;
type Deps = Tools<Webhook, WebhookRow> & {
  stats: Pick<WebhookStats, "lastHour">;
  withinPlan: WithinPlan<AppRow>;
};

const signingSecret = ownSecret<Webhook>(webhookResource, {
  what: "webhook",
  credential: "secret",
  nameOf: ({ spec }) => spec.secretName,
});

/** Webhook: a document, and a Secret with the signing secret. */
export const webhook = defineKind<Webhook, WebhookRow>({
  definition: webhookResource,
  what: "webhook",
  collection: webhookCollection,
  goesWithOwner: { index: "app" },
  ownSecret: signingSecret,
  readsSecrets: ({ spec }) => headerSecretsOf(spec),
  indexes: { app: (resource) => [beside(resource, resource.spec.appRef)] },
  links: [appLink],
  isRecordReported: true,
  inputs: (tools) => {
    const { rows, record, clock } = tools;
    const { lastHour } = webhookStats(tools.db);
    return async (resource) => {
      const now = clock.now();
      const id = record.idOf(resource);
      const read = [rows.find(id), appOf(tools, resource, resource.spec.appRef), lastHour(id, now)] as const;
      const [row, app, hour] = await Promise.all(read);
      const isOver = row?.previous_secret != null && row.previous_secret.expires_at <= now;
      return [row && deciding(row), app, healthStatus(hour, resource.status?.health, now), isOver];
    };
  },
  handler: (tools) =>
    handler({ ...tools, stats: webhookStats(tools.db), withinPlan: withinPlan(limit(tools), tools.timing) }),
});

const limit = ({ db, owners }: Platform) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  return planLimit({
    owners,
    feature: "webhooks",
    things: "endpoints",
    most: (plan) => plan.webhook_endpoints,
    countOthers: (appId, exceptId) => rows.countDocuments({ app_id: appId, _id: { $ne: exceptId } }, { hint: "app" }),
  });
};

const handler = (deps: Deps): Handler<Webhook> => {
  const { record, stats, clock } = deps;
  return {
    reconcile: (resource, signal) =>
      withApp(deps, resource, async (app) => {
        const id = record.idOf(resource);
        const stand = await record.look(resource, inApp(resource, app));
        if (stand.kind === "write") return apply(deps, { resource, id, stand, app }, signal);
        const describe = async (row: WebhookRow) => {
          const now = clock.now();
          const status = statusOf({ webhook: resource, row, hour: await stats.lastHour(id, now), now });
          return { status, members: membersOf(resource, app) };
        };
        return record.report(resource, stand, describe, signal);
      }),
    remove: async (resource, signal) =>
      record.drop(resource, { before: (id) => beginRemoval(deps, id) }, signal, await ofApp(deps, resource)),
  };
};

/** What was sent to an endpoint goes after it. */
const beginRemoval = async ({ rows, db, fence, clock }: Deps, id: string): Promise<null> => {
  const row = await rows.find(id);
  fence.check();
  if (row !== null) await removals(db).begin(webhookRemoval(row, clock.now()));
  return null;
};

type Input = { resource: Webhook; id: string; stand: MayWrite<WebhookRow>; app: AppRow };

const apply = async (deps: Deps, input: Input, signal: AbortSignal): Promise<Verdict> => {
  const { record, network, stats } = deps;
  const { resource, id, stand, app } = input;
  const { row } = stand;
  const address = resource.spec.url;
  const unreachable = await addressProblem(network, { address, isTaken: row?.url === address }, signal);
  if (unreachable !== null) return refusal(unreachable.finding, unreachable.retryMs);
  const finding = badTemplate(resource.spec) ?? badFilters(resource.spec);
  if (finding !== null) return refusal(finding);
  const read = await gather(deps, input, signal);
  if ("finding" in read) return refusal(read.finding);
  const problem = record.problem(resource, stand, { set: read.members });
  if (problem !== null) return problem;
  const stored = await deps.withinPlan({ owner: app, id, row }, () => store(deps, { ...input, ...read }, signal));
  if ("verdict" in stored) return stored.verdict;
  const { now, set, isSecretWritten, result } = stored;
  const after = { ...beginning(now), ...row, ...set };
  const status = statusOf({ webhook: resource, row: after, hour: await stats.lastHour(id, now), now });
  const verdict = record.kept(resource, result, status);
  return { ...verdict, ...disabled(after), isChanged: verdict.isChanged || isSecretWritten };
};

// no rule of the CRD can check these
const badTemplate = ({ bodyTemplate }: WebhookSpec): Finding | null => {
  const problem = bodyTemplate === undefined ? null : templateProblem(bodyTemplate);
  return problem === null ? null : refused("TemplateInvalid", `spec.bodyTemplate: ${problem}`);
};
const badFilters = ({ filters }: WebhookSpec): Finding | null => {
  const [problem] = filters === undefined ? [] : filterProblems(filters, "spec.filters");
  return problem === undefined ? null : refused("FilterInvalid", `${problem.field}: ${problem.message}`);
};

type Read = { now: Date; members: Partial<WebhookRow>; found: FoundSecret };

/** Reads the Secrets, before anything is written and before others have to wait for this endpoint. */
const gather = async (
  { secrets, keyRing, clock }: Deps,
  { resource, id, stand: { row }, app }: Input,
  signal: AbortSignal,
): Promise<Read | { finding: Finding }> => {
  const { spec } = resource;
  const read = headersOf(spec, await secretValues(secrets, resource, headerSecretsOf(spec), signal));
  if ("finding" in read) return read;
  const found = await signingSecret.find(secrets, resource, signal);
  const headers = sealHeaders(keyRing, id, read.headers, row?.headers ?? []);
  return { now: clock.now(), members: { ...membersOf(resource, app), headers, ...stateOf(resource, row) }, found };
};

/** Writes the Secret, then the document: receivers can know a new signing secret before it is used. */
const store = async (deps: Deps, input: Input & Read, signal: AbortSignal) => {
  const { db, record, secrets, keyRing, randomBytes, jetstream } = deps;
  const { resource, id, stand, app, now, members, found } = input;
  const { row } = stand;
  const make = (): string => `whsec_${randomBytes(32).toString("base64")}`;
  const signing = signingOf(keyRing, { webhook: resource, id, appId: app._id, row, now, found }, make);
  if (signing === null) return { verdict: refusal(signingSecret.conflict(resource)) };
  const { before, secret, isReplaced, sealed } = signing;
  const isAsWanted = (values: Record<string, string>): boolean => values["secret"] === secret;
  const content = { before, values: { secret }, isAsWanted, isReplaced };
  const isSecretWritten = await signingSecret.write(secrets, resource, content, signal);
  const set = { ...members, ...sealed };
  const place = row === null ? await endpointPlaces(db, jetstream.partitioning).place(app, id) : {};
  const result = await record.keep(resource, stand, { set, begin: { ...beginning(now), ...place } });
  return "verdict" in result ? result : { now, set, isSecretWritten, result };
};
