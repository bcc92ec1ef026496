import type { FieldError } from "#core/errors.ts";
import { type WebhookSpec, type WebhookStatus, webhookResource } from "#core/schema/resources/webhook.ts";
import type { HealthWindow } from "#core/schema/webhook.ts";
import type { WebhookFilters } from "#core/schema/webhook-filters.ts";
import type { AppRow } from "#core/storage/apps.ts";
import type { ManagedRows } from "#core/storage/managed.ts";
import { asleep } from "#core/storage/wake.ts";
import { type WebhookRow, webhookCollection, webhookDefaults } from "#core/storage/webhooks.ts";
import { type Finding, refused } from "../engine/conditions.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { headerSecretsOf, headersOf, sealHeaders } from "../policies/webhook-headers.ts";
import {
  enableAnnotation,
  enableAskedFor,
  membersOf,
  resumption,
  stateOf,
  suspendedReason,
} from "../policies/webhook-row.ts";
import { healthStatus } from "../policies/webhook-status.ts";
import { type AppRefDeps, appOf } from "./app-ref.ts";
import {
  type Common,
  dropRow,
  firstFinding,
  idOf,
  isWritten,
  kept,
  keptFinding,
  managedBy,
  refusal,
  secretValues,
} from "./common.ts";
import type { PlanRoom } from "./plan-room.ts";
import { keepSigningSecret, ownerOf, type SigningDeps } from "./webhook-secret.ts";

export type WebhookDeps = Common &
  AppRefDeps &
  SigningDeps &
  Judges & {
    webhooks: ManagedRows<WebhookRow>;
    /** How the requests of the last hour went. */
    lastHour: (endpointId: string, now: Date) => Promise<HealthWindow>;
    /** Has a dispatcher look at an endpoint, also should its doorbell not be heard. */
    wake: (endpointId: string) => Promise<void>;
    /** Rings an endpoint's doorbell: what waits for one that is gone is dropped. Best effort. */
    doorbell: (endpointId: string) => Promise<void>;
    /** Why an app may not have one more endpoint, by its plan; null when it may. */
    noRoom: PlanRoom;
    oneByOne: <T>(create: () => Promise<T>) => Promise<T>;
  };

/** What is wrong with a part of a spec, in words; null or empty when nothing is. */
type Judges = {
  addressProblem: (url: URL) => string | null;
  templateProblem: (template: string) => string | null;
  filterProblems: (filters: WebhookFilters, at: string) => readonly FieldError[];
};

type Webhook = Resource<WebhookSpec, WebhookStatus>;

/** Webhook: a document, and a Secret with the signing secret. */
export const webhookHandler = (deps: WebhookDeps): Handler<Webhook> => ({
  reconcile: async (webhook, signal) => {
    const { webhooks, clock } = deps;
    const id = idOf("webhook", webhook);
    const app = await appOf(deps, webhook, webhook.spec.appRef);
    if (app.kind === "gone") await drop(deps, id, webhook.metadata.uid);
    if (app.kind !== "found") return refusal(app.finding);
    const finding = firstFinding(policies, { spec: webhook.spec, judges: deps });
    if (finding !== null) return refusal(finding);
    const row = await webhooks.find(id);
    const apply = () => applyTo(deps, { webhook, id, row, app: app.row, now: clock.now() }, signal);
    if (row !== null) return apply();
    return deps.oneByOne(async () => {
      const full = await deps.noRoom(app.row, id);
      return full === null ? apply() : refusal(full);
    });
  },
  remove: async (webhook, signal) => {
    const { secretName, deletionPolicy } = webhook.spec;
    const { secrets, webhooks, doorbell } = deps;
    const id = idOf("webhook", webhook);
    await dropRow({ ...deps, rows: webhooks, collection: webhookCollection.name }, id, webhook);
    await doorbell(id);
    await (deletionPolicy === "Retain" ? secrets.releaseOwn : secrets.removeOwn)(ownerOf(webhook), secretName, signal);
    return null;
  },
});

/** What hangs on an App that is gone goes too. */
const drop = async ({ webhooks, announce, doorbell }: WebhookDeps, id: string, uid: string): Promise<void> => {
  if (!(await webhooks.remove(id, uid))) return;
  announce(webhookCollection.name, id);
  await doorbell(id);
};

/** What a spec must satisfy that no rule of the CRD can say. */
const policies: ((input: { spec: WebhookSpec; judges: Judges }) => Finding | null)[] = [
  ({ spec, judges }) => {
    const url = URL.parse(spec.url);
    const problem = url === null ? "it is no address" : judges.addressProblem(url);
    return problem === null ? null : refused("AddressRefused", `spec.url: ${problem}`);
  },
  ({ spec, judges }) => {
    const problem = spec.bodyTemplate === undefined ? null : judges.templateProblem(spec.bodyTemplate);
    return problem === null ? null : refused("TemplateInvalid", `spec.bodyTemplate: ${problem}`);
  },
  ({ spec, judges }) => {
    const [problem] = spec.filters === undefined ? [] : judges.filterProblems(spec.filters, "spec.filters");
    return problem === undefined ? null : refused("FilterInvalid", `${problem.field}: ${problem.message}`);
  },
];

type Input = { webhook: Webhook; id: string; row: WebhookRow | null; app: AppRow; now: Date };

const applyTo = async (deps: WebhookDeps, input: Input, signal: AbortSignal): Promise<Verdict> => {
  const { webhook, id, row, app, now } = input;
  const read = headersOf(
    webhook.spec,
    await secretValues(deps.secrets, webhook, headerSecretsOf(webhook.spec), signal),
  );
  if ("finding" in read) return refusal(read.finding);
  const signing = await keepSigningSecret(deps, input, signal);
  if ("finding" in signing) return refusal(signing.finding);
  const set = {
    ...membersOf(webhook, app),
    headers: sealHeaders(deps.ring, id, read.headers, row?.headers ?? []),
    ...stateOf(webhook, row),
    ...signing.sealed,
    ...resumption(webhook, row, now),
  };
  const wanted = { id, found: row, managed: managedBy(webhookResource, webhook), set, begin: beginning(now) };
  const result = await deps.webhooks.keep(wanted, now);
  if (isWritten(result)) deps.announce(webhookCollection.name, id);
  if (result === "updated") await deps.wake(id);
  const conflict = keptFinding(result, "webhook");
  if (conflict !== null) return refusal(conflict);
  const after = { ...beginning(now), ...row, ...set };
  const verdict = kept("webhook", result, await statusOf(deps, input, after));
  return { ...verdict, ...disabled(after), isChanged: verdict.isChanged || signing.isWritten };
};

const statusOf = async (
  { lastHour }: WebhookDeps,
  { webhook, id, app, now }: Input,
  after: Partial<WebhookRow>,
): Promise<Partial<WebhookStatus>> => {
  const health = healthStatus(await lastHour(id, now), webhook.status?.health, now);
  const enabledFor = enableAskedFor(webhook);
  return {
    id,
    appId: app._id,
    state: after.status ?? "active",
    ...(after.disabled_reason && { disabledReason: after.disabled_reason }),
    ...(after.failing_since && { failingSince: after.failing_since.toISOString() }),
    ...(health && { health }),
    ...(after.previous_secret && { previousSecretValidUntil: after.previous_secret.expires_at.toISOString() }),
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
  ...asleep,
  ...webhookDefaults,
  failure_count: 0,
  streak_since: null,
  failing_since: null,
  last_success_at: null,
  last_failure_at: null,
  created_at: now,
});
