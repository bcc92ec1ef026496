import { type KeyRing, KeyRingError } from "#core/runtime/key-ring.ts";
import { resourceApiVersion } from "#core/schema/resources/definition.ts";
import { type WebhookSpec, webhookResource } from "#core/schema/resources/webhook.ts";
import type { AppRow } from "#core/storage/apps.ts";
import type { ManagedRows } from "#core/storage/managed.ts";
import type { Sealed } from "#core/storage/sealed.ts";
import { asleep } from "#core/storage/wake.ts";
import { type WebhookRow, webhookCollection, webhookDefaults } from "#core/storage/webhooks.ts";
import { type Finding, refused } from "../engine/conditions.ts";
import type { Handler, Verdict } from "../engine/reconcile.ts";
import type { Resource } from "../kube/objects.ts";
import { type Owner, type OwnSecret, rotateAnnotation, type Secrets } from "../kube/secrets.ts";
import { isRotationDue, isSigningSecret, overlapMs } from "../policies/tokens.ts";
import { type AppRefDeps, appOf } from "./app-ref.ts";
import { type Common, dropRow, idOf, isWritten, kept, keptFinding, managedBy, refusal } from "./common.ts";
import type { PlanRoom } from "./plan-room.ts";

export type WebhookDeps = Common &
  AppRefDeps & {
    webhooks: ManagedRows<WebhookRow>;
    secrets: Secrets;
    ring: KeyRing;
    newSigningSecret: () => string;
    /** Why an app may not have one more endpoint, by its plan; null when it may. */
    noRoom: PlanRoom;
    oneByOne: <T>(create: () => Promise<T>) => Promise<T>;
  };

type Webhook = Resource<WebhookSpec>;

/**
 * Webhook: a document, and a Secret with the signing secret. The Secret is written first and the document follows it, so
 * that receivers know a new signing secret before it is used.
 */
export const webhookHandler = (deps: WebhookDeps): Handler<Webhook> => {
  const { webhooks, secrets, announce, clock } = deps;
  return {
    reconcile: async (webhook, signal) => {
      const app = await appOf(deps, webhook, webhook.spec.appRef);
      const id = idOf("webhook", webhook);
      if (app.kind !== "found") {
        const isGone = app.kind === "gone" && (await webhooks.remove(id, webhook.metadata.uid));
        if (isGone) announce(webhookCollection.name, id);
        return refusal(app.finding);
      }
      const row = await webhooks.find(id);
      const apply = () => applyTo(deps, { webhook, id, row, app: app.row }, signal);
      if (row !== null) return apply();
      return deps.oneByOne(async () => {
        const finding = await deps.noRoom(app.row, id);
        return finding === null ? apply() : refusal(finding);
      });
    },
    remove: async (webhook, signal) => {
      const { secretName, deletionPolicy } = webhook.spec;
      const drop = deletionPolicy === "Retain" ? secrets.releaseOwn : secrets.removeOwn;
      await dropRow(
        { rows: webhooks, collection: webhookCollection.name, announce, clock },
        idOf("webhook", webhook),
        webhook,
      );
      await drop(ownerOf(webhook), secretName, signal);
      return null;
    },
  };
};

type Input = { webhook: Webhook; id: string; row: WebhookRow | null; app: AppRow };

const applyTo = async (deps: WebhookDeps, input: Input, signal: AbortSignal): Promise<Verdict> => {
  const { webhook, id, row, app } = input;
  const now = deps.clock.now();
  const opened = row === null ? null : open(deps.ring, id, row.secret);
  const before = await deps.secrets.readOwn(ownerOf(webhook), webhook.spec.secretName, signal);
  if (before.kind === "foreign") return refusal(secretConflict(webhook));
  const secret = secretOf(webhook, { before, opened, make: deps.newSigningSecret });
  const isSecretWritten = await writeSecret(deps, { webhook, before, secret }, signal);
  const set = {
    ...members(webhook, app),
    ...stateOf(webhook, row),
    ...sealedOf(deps.ring, { id, row, opened, secret, now }),
  };
  const wanted = { id, managed: managedBy(webhookResource, webhook), set, begin: beginning(now) };
  const result = await deps.webhooks.keep(wanted, now);
  if (isWritten(result)) deps.announce(webhookCollection.name, id);
  const conflict = keptFinding(result, "webhook");
  if (conflict !== null) return refusal(conflict);
  const state = set.status ?? row?.status ?? "active";
  const until = set.previous_secret?.expires_at.toISOString();
  const status = { id, appId: app._id, state, ...(until && { previousSecretValidUntil: until }) };
  const verdict = kept("webhook", result, status);
  return { ...verdict, ...disabled(state, row), isChanged: verdict.isChanged || isSecretWritten };
};

/** What others found out about an endpoint, e.g. that it answered 410, is told and not undone. */
const disabled = (state: string, row: WebhookRow | null): { ready?: Finding } =>
  state === "disabled" && row?.disabled_reason && row.disabled_reason !== suspendedReason
    ? {
        ready: refused("EndpointDisabled", `the endpoint was disabled: ${row.disabled_reason}; another url enables it`),
      }
    : {};

const suspendedReason = "suspended by its resource";

/** The Secret's value counts; when it is lost, the stored one is written back. */
const secretOf = (
  { metadata }: Webhook,
  { before, opened, make }: { before: OwnSecret; opened: string | null; make: () => string },
): string => {
  const current = before.kind === "own" ? before.values["secret"] : undefined;
  if (before.kind !== "own" || !isSigningSecret(current)) return opened ?? make();
  return isRotationDue(metadata.annotations?.[rotateAnnotation], before.rotatedFor) ? make() : current;
};

const writeSecret = async (
  { secrets }: WebhookDeps,
  { webhook, before, secret }: { webhook: Webhook; before: OwnSecret; secret: string },
  signal: AbortSignal,
): Promise<boolean> => {
  const rotatedFor = webhook.metadata.annotations?.[rotateAnnotation] ?? null;
  const isThere = before.kind === "own" && before.values["secret"] === secret && before.rotatedFor === rotatedFor;
  if (isThere) return false;
  await secrets.writeOwn(ownerOf(webhook), webhook.spec.secretName, { before, values: { secret }, rotatedFor }, signal);
  return true;
};

type SealInput = { id: string; row: WebhookRow | null; opened: string | null; secret: string; now: Date };

/** A changed secret makes the stored one the previous, for a day. */
const sealedOf = (
  ring: KeyRing,
  { id, row, opened, secret, now }: SealInput,
): Pick<WebhookRow, "secret" | "previous_secret"> => {
  const sealed = ring.seal(secret, contextOf(id));
  if (row === null || opened === null) return { secret: sealed, previous_secret: null };
  if (opened !== secret) {
    const previous = { secret: row.secret, expires_at: new Date(now.getTime() + overlapMs) };
    return { secret: sealed, previous_secret: previous };
  }
  const isOver = row.previous_secret !== null && row.previous_secret.expires_at <= now;
  return {
    secret: ring.isStale(row.secret) ? sealed : row.secret,
    previous_secret: isOver ? null : row.previous_secret,
  };
};

const contextOf = (id: string): string => `webhooks/${id}/secret`;

const open = (ring: KeyRing, id: string, sealed: Sealed): string | null => {
  try {
    return ring.open(sealed, contextOf(id));
  } catch (error) {
    if (error instanceof KeyRingError) return null; // altered, or its key is gone: the Secret's value is sealed anew
    throw error;
  }
};

const members = ({ spec }: Webhook, app: AppRow): Partial<WebhookRow> => ({
  tenant_id: app.tenant_id,
  app_id: app._id,
  url: spec.url,
  description: spec.description ?? null,
  events: [...spec.events].sort(),
  event_names: [...(spec.eventNames ?? [])].sort(),
});

/** The state is the service's own, except that the resource suspends, resumes, and begins anew with another url. */
const stateOf = ({ spec }: Webhook, row: WebhookRow | null): Partial<WebhookRow> => {
  if (spec.suspended) return { status: "disabled", disabled_reason: suspendedReason };
  const isAnew = row === null || row.url !== spec.url || row.disabled_reason === suspendedReason;
  return isAnew ? { status: "active", disabled_reason: null, failure_count: 0, failing_since: null } : {};
};

const beginning = (now: Date): Partial<WebhookRow> => ({
  ...asleep,
  ...webhookDefaults,
  failure_count: 0,
  failing_since: null,
  last_success_at: null,
  last_failure_at: null,
  created_at: now,
});

const secretConflict = ({ spec }: Webhook): Finding =>
  refused("SecretConflict", `Secret ${spec.secretName} exists and is not this webhook's; it is left alone`);

const ownerOf = (resource: Webhook): Owner => ({
  apiVersion: resourceApiVersion,
  kind: webhookResource.kind,
  resource,
});
