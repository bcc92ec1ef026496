import { randomBytes } from "node:crypto";
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream";
import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { filterProblems } from "#core/domain/webhooks/filter.ts";
import { Unavailable } from "#core/errors.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { StreamSpec } from "#core/queue/topology.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { templateProblem } from "#core/runtime/templates/engine.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import { type ApiKeyRow, apiKeyCollection } from "#core/storage/api-keys/api-keys.ts";
import { rememberingRows, revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { type AppRow, appCollection, apps } from "#core/storage/apps/apps.ts";
import {
  type LiveActivityTypeRow,
  liveActivityTypeCollection,
  liveActivityTypes,
} from "#core/storage/live-activities/types.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/mongo/collection.ts";
import { oneWriter } from "#core/storage/mongo/duplicate.ts";
import { type PlanRow, planCollection } from "#core/storage/plans/plans.ts";
import { type Fence, type ManagedRow, type ManagedRows, managedRows } from "#core/storage/settings/managed.ts";
import { type TenantRow, tenantCollection, tenants } from "#core/storage/tenants/tenants.ts";
import { webhookStats } from "#core/storage/webhooks/stats.ts";
import { type WebhookRow, webhookCollection, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Handler } from "./engine/reconcile.ts";
import type { KindName, Stores } from "./engine/stores.ts";
import { apiKeyHandler } from "./kinds/api-key.ts";
import { appHandler } from "./kinds/app.ts";
import { sparing } from "./kinds/inputs.ts";
import { liveActivityTypeHandler } from "./kinds/live-activity-type.ts";
import { planHandler } from "./kinds/plan.ts";
import { tenantHandler } from "./kinds/tenant.ts";
import { webhookHandler } from "./kinds/webhook.ts";
import type { Resource } from "./kube/objects.ts";
import type { Secrets } from "./kube/secrets.ts";
import type { Store } from "./kube/store.ts";
import { cascade } from "./records/cascade.ts";
import type { Common } from "./records/platform.ts";
import { planRoom } from "./records/room.ts";

export type HandlerDeps = Common & {
  db: Db;
  fence: Fence;
  nats: Pick<Nats, "js" | "jsm" | "isConnected">;
  prefix: string;
  /** Copies that JetStream keeps of a stream. */
  replicas: number;
  publicUrl: string;
  ring: KeyRing;
  /** Judges the addresses of webhooks, */
  guard: AddressGuard;
  /** and where their names lead. */
  resolve: Resolve;
  secrets: Secrets;
  stores: Stores;
};

export type Handlers = { [K in KindName]: HandlerOf<Stores[K]> };
type HandlerOf<S> = S extends Store<infer R extends Resource> ? Handler<R> : never;

/** What is done about each kind, on the real stores. */
export const makeHandlers = (deps: HandlerDeps): Handlers => {
  const { db, fence, nats, ring, secrets, stores, announce, clock } = deps;
  const common = { announce, clock };
  const rows = documents(db, fence, clock);
  const doorbell = doorbellOf(nats, deps.prefix);
  const withParts = cascade({ db, fence, announce, doorbell });
  const appRefs = { ...common, ...rows, appStore: stores.apps };
  const handlers: Handlers = {
    plans: planHandler({ ...common, ...rows, store: stores.plans, prefix: deps.prefix, ...streams(deps) }),
    tenants: tenantHandler({ ...common, ...rows, store: stores.tenants, ...withParts }),
    apps: appHandler({
      ...common,
      ...rows,
      store: stores.apps,
      secrets,
      ring,
      oneByOne: oneWriter(),
      ...withParts,
    }),
    apiKeys: apiKeyHandler({ ...appRefs, store: stores.apiKeys, secrets, baseUrl: deps.publicUrl, newToken }),
    webhooks: webhookHandler({
      ...appRefs,
      store: stores.webhooks,
      secrets,
      ring,
      newSigningSecret,
      guard: deps.guard,
      resolve: deps.resolve,
      templateProblem,
      filterProblems,
      ...traffic(deps, doorbell),
      noRoom: planRoom({
        ...rows,
        feature: "webhooks",
        things: "endpoints",
        most: (plan) => plan.webhook_endpoints,
        countOthers: countOtherEndpoints(db),
      }),
      oneByOne: oneWriter(),
    }),
    liveActivityTypes: liveActivityTypeHandler({
      ...appRefs,
      store: stores.liveActivityTypes,
      noRoom: planRoom({
        ...rows,
        feature: "live_activities",
        things: "live activity types",
        most: () => activityLimits.types,
        countOthers: rows.types.countOthers,
      }),
      oneByOne: oneWriter(),
    }),
  };
  return sparing(handlers, { ...appRefs, secretStore: stores.secrets, lastHour: webhookStats(db).lastHour });
};

/** The documents that resources stand for. */
const documents = (db: Db, fence: Fence, { now }: Clock) => {
  const managed = <Row extends ManagedRow>(spec: CollectionSpec): ManagedRows<Row> =>
    managedRows(collectionOf<Row>(db, spec), fence);
  return {
    plans: managed<PlanRow>(planCollection),
    tenants: { ...tenants(db), ...managed<TenantRow>(tenantCollection) },
    apps: { ...apps(db), ...managed<AppRow>(appCollection) },
    keys: rememberingRows(managed<ApiKeyRow>(apiKeyCollection), revokedTokens(db), now),
    webhooks: managed<WebhookRow>(webhookCollection),
    types: { ...liveActivityTypes(db), ...managed<LiveActivityTypeRow>(liveActivityTypeCollection) },
  };
};

const countOtherEndpoints = (db: Db) => (appId: string, exceptId: string) =>
  collectionOf<WebhookRow>(db, webhookCollection).countDocuments(
    { app_id: appId, _id: { $ne: exceptId } },
    { hint: "app" },
  );

/** What goes to endpoints, and how it went. */
const traffic = ({ db, clock }: HandlerDeps, doorbell: (endpointId: string) => Promise<void>) => ({
  lastHour: webhookStats(db).lastHour,
  wake: async (endpointId: string): Promise<void> => {
    await webhookWork(db).wake([endpointId], clock.now());
    await doorbell(endpointId);
  },
  doorbell,
});

/** What cannot be told now is found by the timer, or, of an endpoint that is gone, forgotten with its history. */
const doorbellOf = (nats: HandlerDeps["nats"], prefix: string) => {
  const { publish } = publisher(nats);
  const { webhook } = subjects(prefix);
  return async (endpointId: string): Promise<void> => {
    await publish(webhook(endpointId), { endpoint_id: endpointId }).catch(ignoreUnavailable);
  };
};

const ignoreUnavailable = (error: unknown): void => {
  if (!(error instanceof Unavailable)) throw error;
};

const newToken = (): string => `hk_${randomBytes(32).toString("base64url")}`;
const newSigningSecret = (): string => `whsec_${randomBytes(32).toString("base64")}`;

const streams = ({ nats: { jsm, isConnected }, fence: { check }, replicas }: HandlerDeps) => {
  /** Without a connection a call would only wait for its deadline. */
  const whenConnected = async <T>(call: () => Promise<T>): Promise<T> => {
    check(); // JetStream itself cannot tell a leader from before
    if (!isConnected()) throw new Unavailable("JetStream");
    return call().catch(translated);
  };
  return {
    ensureStream: (spec: StreamSpec) => whenConnected(() => ensureStream(jsm, spec, replicas)),
    deleteStream: (name: string) =>
      whenConnected(async () => {
        await jsm.streams.delete(name).catch(ignoreMissing);
      }),
  };
};

const ignoreMissing = (error: unknown): void => {
  if (!(error instanceof JetStreamApiError && error.code === JetStreamApiCodes.StreamNotFound)) throw error;
};

/** JetStream's own refusals stay as they are; everything else means that it did not answer. */
const translated = (error: unknown): never => {
  if (error instanceof JetStreamApiError) throw error;
  throw new Unavailable("JetStream", { cause: error });
};
