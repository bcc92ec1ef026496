import type { FieldError } from "#core/errors.ts";
import type { WebhookFilters } from "#core/schema/webhooks/filters.ts";
import { type WebhookSpec, type WebhookStatus, webhookResource } from "#core/schema/webhooks/resource.ts";
import type { HealthWindow } from "#core/schema/webhooks/webhook.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { OneWriter } from "#core/storage/mongo/duplicate.ts";
import type { ManagedRows } from "#core/storage/settings/managed.ts";
import { healthAnew, type WebhookRow, webhookCollection, webhookDefaults } from "#core/storage/webhooks/webhooks.ts";
import { noWork } from "#core/storage/work/due.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import type { FoundSecret } from "../kube/secrets.ts";
import type { Store } from "../kube/store.ts";
import { type Finding, refused } from "../policies/conditions.ts";
import { idOf, isRetained } from "../policies/management.ts";
import { type AddressDeps, addressProblem } from "../policies/webhooks/address.ts";
import { headerSecretsOf, headersOf, sealHeaders } from "../policies/webhooks/headers.ts";
import { healthStatus } from "../policies/webhooks/health.ts";
import {
  enableAnnotation,
  enableAskedFor,
  membersOf,
  resumption,
  stateOf,
  suspendedReason,
} from "../policies/webhooks/row.ts";
import { keepSigningSecret, ownerOf, type SigningDeps } from "../policies/webhooks/signing-secret.ts";
import { type AppRefDeps, appIsGone, appOf, besideInApp } from "../records/app-ref.ts";
import { type Common, firstFinding, kept, noRoomYet, refusal, secretValues } from "../records/platform.ts";
import { type MayWrite, type Records, records } from "../records/record.ts";
import type { PlanRoom } from "../records/room.ts";

export type WebhookDeps = Common &
  AppRefDeps &
  SigningDeps &
  AddressDeps &
  Judges & {
    webhooks: ManagedRows<WebhookRow>;
    store: Pick<Store<Webhook>, "by">;
    /** How the requests of the last hour went. */
    lastHour: (endpointId: string, now: Date) => Promise<HealthWindow>;
    /** Has a dispatcher look at an endpoint, also should its doorbell not be heard. */
    wake: (endpointId: string) => Promise<void>;
    /** Rings an endpoint's doorbell: what waits for one that is gone is dropped. Best effort. */
    doorbell: (endpointId: string) => Promise<void>;
    /** Why an app may not have one more endpoint, by its plan; null when it may. */
    noRoom: PlanRoom;
    /** Makes those of one app one after another, so that two do not both find its last place. */
    oneByOne: OneWriter;
  };

/** What is wrong with a part of a spec, in words; null or empty when nothing is. */
type Judges = {
  templateProblem: (template: string) => string | null;
  filterProblems: (filters: WebhookFilters, at: string) => readonly FieldError[];
};

type Webhook = Resource<WebhookSpec, WebhookStatus>;

/** Webhook: a document, and a Secret with the signing secret. */
export const webhookHandler = (deps: WebhookDeps): Handler<Webhook> => {
  const { webhooks, secrets, doorbell } = deps;
  const kind = { definition: webhookResource, rows: webhooks, collection: webhookCollection.name, what: "webhook" };
  const record = records({ ...deps, ...kind });
  return {
    reconcile: async (webhook, signal) => {
      const app = await appOf(deps, webhook, webhook.spec.appRef);
      if (app.kind === "gone" && (await record.dropWith(webhook, appIsGone(deps)))) {
        await doorbell(idOf(webhookResource, webhook));
      }
      if (app.kind !== "found") return refusal(app.finding);
      const stand = await record.look(webhook, besideInApp(webhook, app.row));
      if (stand.kind === "write") return write(deps, record, { webhook, stand, app: app.row }, signal);
      return record.tell(webhook, stand, {
        describe: async (row) => ({
          status: await statusOf(deps, { webhook, row, now: deps.clock.now() }),
          members: membersOf(webhook, app.row),
        }),
        letGo: () => secrets.releaseOwn(ownerOf(webhook), webhook.spec.secretName, signal),
      });
    },
    remove: async (webhook, signal) => {
      await record.drop(webhook, { after: doorbell });
      const dropSecret = isRetained(webhook) ? secrets.releaseOwn : secrets.removeOwn;
      await dropSecret(ownerOf(webhook), webhook.spec.secretName, signal);
      return null;
    },
  };
};

type Input = { webhook: Webhook; stand: MayWrite<WebhookRow>; app: AppRow };

const write = async (
  deps: WebhookDeps,
  record: Records<Webhook, WebhookRow>,
  input: Input,
  signal: AbortSignal,
): Promise<Verdict> => {
  const { webhook, stand } = input;
  const address = webhook.spec.url;
  const unreachable = await addressProblem(deps, { address, isTaken: stand.row?.url === address }, signal);
  if (unreachable !== null) return unreachable;
  const finding = firstFinding(policies, { spec: webhook.spec, judges: deps });
  if (finding !== null) return refusal(finding);
  const read = await readAll(deps, input, signal);
  if ("finding" in read) return refusal(read.finding);
  const problem = record.problem(webhook, stand, { set: read.members });
  if (problem !== null) return problem;
  const store = () => storeAll(deps, record, { ...input, ...read }, signal);
  const stored = await (stand.row === null ? inRoom(deps, input, store) : store());
  if ("verdict" in stored) return stored.verdict;
  const { id, now, set, signing, result } = stored;
  if (result.kept === "updated") await deps.wake(id);
  const after = { ...beginning(now), ...stand.row, ...set };
  const status = await statusOf(deps, { webhook, row: after, now });
  const verdict = kept(webhook, "webhook", { ...result, id, ...status });
  return { ...verdict, ...disabled(after), isChanged: verdict.isChanged || signing.isWritten };
};

/** What a spec must satisfy that no rule of the CRD can say. */
const policies: ((input: { spec: WebhookSpec; judges: Judges }) => Finding | null)[] = [
  ({ spec, judges }) => {
    const problem = spec.bodyTemplate === undefined ? null : judges.templateProblem(spec.bodyTemplate);
    return problem === null ? null : refused("TemplateInvalid", `spec.bodyTemplate: ${problem}`);
  },
  ({ spec, judges }) => {
    const [problem] = spec.filters === undefined ? [] : judges.filterProblems(spec.filters, "spec.filters");
    return problem === undefined ? null : refused("FilterInvalid", `${problem.field}: ${problem.message}`);
  },
];

type Read = { now: Date; members: Partial<WebhookRow>; found: FoundSecret };

/** What others decide of an endpoint: nothing is written meanwhile, and nobody waits for it. */
const readAll = async (
  deps: WebhookDeps,
  { webhook, stand: { row }, app }: Input,
  signal: AbortSignal,
): Promise<Read | { finding: Finding }> => {
  const id = idOf(webhookResource, webhook);
  const read = headersOf(
    webhook.spec,
    await secretValues(deps.secrets, webhook, headerSecretsOf(webhook.spec), signal),
  );
  if ("finding" in read) return read;
  const found = await deps.secrets.readOwn(ownerOf(webhook), webhook.spec.secretName, signal);
  const members = {
    ...membersOf(webhook, app),
    headers: sealHeaders(deps.ring, id, read.headers, row?.headers ?? []),
    ...stateOf(webhook, row),
  };
  return { now: deps.clock.now(), members, found };
};

/** An endpoint that is to be made needs room in the plan; those of an app are made one after another. */
const inRoom = <T>(
  { oneByOne, noRoom }: WebhookDeps,
  { webhook, app }: Input,
  store: () => Promise<T>,
): Promise<T | { verdict: Verdict }> =>
  oneByOne(app._id, async () => {
    const full = await noRoom(app, idOf(webhookResource, webhook));
    return full === null ? store() : { verdict: noRoomYet(full) };
  });

const storeAll = async (
  deps: WebhookDeps,
  record: Records<Webhook, WebhookRow>,
  { webhook, stand, app, now, members, found }: Input & Read,
  signal: AbortSignal,
) => {
  const id = idOf(webhookResource, webhook);
  const { row } = stand;
  const signing = await keepSigningSecret(deps, { webhook, id, appId: app._id, row, now, found }, signal);
  if ("finding" in signing) return { verdict: refusal(signing.finding) };
  const set = { ...members, ...signing.sealed, ...resumption(webhook, row, now) };
  const result = await record.keep(webhook, stand, { set, begin: beginning(now) });
  return "verdict" in result ? result : { id, now, set, signing, result };
};

const statusOf = async (
  { lastHour }: WebhookDeps,
  { webhook, row, now }: { webhook: Webhook; row: Partial<WebhookRow>; now: Date },
): Promise<Partial<WebhookStatus>> => {
  const health = healthStatus(await lastHour(idOf(webhookResource, webhook), now), webhook.status?.health, now);
  const enabledFor = enableAskedFor(webhook);
  return {
    ...(row.app_id !== undefined && { appId: row.app_id }),
    state: row.status ?? "active",
    ...(row.disabled_reason && { disabledReason: row.disabled_reason }),
    ...(row.failing_since && { failingSince: row.failing_since.toISOString() }),
    ...(health && { health }),
    ...(row.previous_secret && { previousSecretValidUntil: row.previous_secret.expires_at.toISOString() }),
    ...(enabledFor !== undefined && { enabledFor }),
  };
};

/** What others found out about an endpoint, e.g. that it answered 410, is told and not undone. */
const disabled = ({ status, disabled_reason: reason }: Partial<WebhookRow>): { ready?: Finding } =>
  status === "disabled" && reason && reason !== suspendedReason
    ? { ready: refused("EndpointDisabled", `the service disabled the endpoint: ${reason}; ${remedy}`) }
    : {};

const remedy = `another url, or a new value of the annotation ${enableAnnotation}, enables it`;

const beginning = (now: Date): Partial<WebhookRow> => ({
  ...noWork,
  ...webhookDefaults,
  ...healthAnew,
  last_success_at: null,
  last_failure_at: null,
  created_at: now,
});
