import type { Db } from "mongodb";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { appRemoval } from "#core/storage/apps/removal.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type RemovalRow, removalCollection, removals } from "#core/storage/work/removals.ts";
import { operations } from "../../../apiserver/features.ts";
import type { TwilioSimulator } from "../../../dev/simulators/twilio.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import { aWebhook } from "../rows/webhooks.ts";
import { aToken, post, type Sending, seedDevices, seedPhone, send } from "../system/sending.ts";
import type { SystemProgram } from "../system/system.ts";
import { until } from "../until.ts";
import { useActivities, useActivityTypes } from "./exercise-activities.ts";
import { useAnalytics } from "./exercise-analytics.ts";
import { addMailAccount } from "./exercise-callbacks.ts";
import { useConversations } from "./exercise-conversations.ts";
import { useDevices } from "./exercise-devices.ts";
import { useExports } from "./exercise-exports.ts";
import { useImports } from "./exercise-imports.ts";
import { useInAppMessages } from "./exercise-in-app-messages.ts";
import { useIncidents } from "./exercise-incidents.ts";
import { useLists } from "./exercise-lists.ts";
import { useApps, useAudit, useChannels, useKeys } from "./exercise-organisation.ts";
import { useSegments } from "./exercise-segments.ts";
import { useTargets } from "./exercise-targets.ts";
import { useTemplates } from "./exercise-templates.ts";
import { useTiming } from "./exercise-timing.ts";
import { useWhy } from "./exercise-why.ts";
import { templateOf } from "./openapi-check.ts";

export type Ask = (method: string, path: string, body?: object, key?: string) => Promise<Record<string, unknown>>;

const notAsked = ["createNotification", "cancelNotification", "streamInbox"]; // asked otherwise, or nothing of their own

/** Makes an installation do everything that it can do, each once. @throws Error for operations that it does not know */
export const exercise = async (sending: Sending, api: SystemProgram): Promise<void> => {
  const { system } = sending;
  const asked = new Set<string>();
  const note = (method: string, path: string) => asked.add(`${method} ${templateOf(new URL(api.url + path).pathname)}`);
  const ask: Ask = async (method, path, body, key) => {
    note(method, path);
    const reply = await fetch(api.url + path, {
      method,
      headers: {
        authorization: `Bearer ${system.token}`,
        ...(!(body instanceof FormData) && { "content-type": "application/json" }),
        ...(key !== undefined && { "idempotency-key": key }),
      },
      ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>; // every reply is an object
  };
  const twilio = await sending.texts(); // first: apps are remembered
  const fcm = await sending.android();
  const tell = await addMailAccount(system); // first, too
  await addWebhooks(sending); // first: who has endpoints is remembered from an app's first event on
  await fetch(`${api.url}/v1/notifications`, { headers: { authorization: "Bearer nobody's" } });
  await useUsers(ask, `/v1/apps/${system.app._id}`);
  await useEvents(ask, system);
  await useNotifications(sending, api);
  await useWhy(ask, system.app._id);
  await useAnalytics(ask, `/v1/apps/${system.app._id}/analytics`, "visit");
  await useTexts(system, api, twilio);
  await tell(api);
  await useLists(ask, system.app._id);
  await useSegments(ask, `/v1/apps/${system.app._id}/segments`);
  await useTargets(ask, sending, api);
  await useSuppressions(ask, `/v1/apps/${system.app._id}/suppressions`);
  await useConversations(ask, system);
  await useTemplates(ask, `/v1/apps/${system.app._id}/templates`);
  await useInAppMessages(ask, `/v1/apps/${system.app._id}`);
  await useDevices(ask, system, api, note);
  await useExports(ask, `/v1/apps/${system.app._id}/exports`);
  await useImports(ask, `/v1/apps/${system.app._id}/imports`);
  await useChannels(ask, `/v1/apps/${system.app._id}/channels`);
  await useApps(ask, `/v1/apps/${system.app._id}`);
  await useActivityTypes(ask, `/v1/apps/${system.app._id}/live-activities/types`);
  await useActivities(ask, sending, fcm);
  await useWebhooks(ask, `/v1/apps/${system.app._id}/webhooks`, system.db);
  await useIncidents(ask);
  await useKeys(ask);
  await useAudit(ask, `/v1/apps/${system.app._id}`);
  await ask("GET", "/v1/usage");
  await removeApp(system);
  const missed = operations.filter(
    ({ method, path, scopes }) => scopes !== "public" && !asked.has(`${method} ${path}`),
  );
  const unknown = missed.map(({ id }) => id).filter((id) => !notAsked.includes(id));
  if (unknown.length > 0) throw new Error(`nothing asks for ${unknown.join(", ")}`);
};

const useUsers = async (ask: Ask, app: string): Promise<void> => {
  const subscriptions = [{ channel: "ios_push", token: aToken() }];
  await ask("POST", `${app}/users`, { external_id: "ann", aliases: { crm: "a-1" }, subscriptions });
  await ask("POST", `${app}/users`, { external_id: "ann", aliases: { crm: "a-1", shop: "s-1" } });
  await ask("POST", `${app}/users`, { external_id: "bob", subscriptions }); // takes the device over
  const two = [
    { external_id: "ann", language: "it" },
    { external_id: `new-${aToken()}`, subscriptions: [{ channel: "ios_push", token: aToken() }] },
  ];
  await ask("POST", `${app}/users/batch`, { users: two });
  await ask("GET", `${app}/users/by/crm/a-1`);
  await ask("PATCH", `${app}/users/by/external_id/ann`, { language: "de" });
  const { id } = await ask("POST", `${app}/users/by/external_id/ann/subscriptions`, {
    channel: "ios_push",
    token: aToken(),
  });
  await ask("GET", `${app}/subscriptions/${String(id)}`);
  await ask("PATCH", `${app}/subscriptions/${String(id)}`, { status: "unsubscribed" });
  await ask("PATCH", `${app}/subscriptions/${String(id)}/owner`, { label: "external_id", id: "bob" });
  const token = aToken();
  await ask("POST", `${app}/users/by/external_id/bob/subscriptions`, { channel: "ios_push", token });
  await ask("GET", `${app}/subscriptions_by_token/ios_push/${token}`);
  await ask("PATCH", `${app}/subscriptions_by_token/ios_push/${token}`, { language: "de" });
  await ask("GET", `${app}/users/by/external_id/ann/identity`);
  await ask("PATCH", `${app}/users/by/external_id/ann/identity`, { aliases: { till: "t-1" } });
  await ask("DELETE", `${app}/users/by/external_id/ann/identity/till`);
  await ask("DELETE", `${app}/subscriptions/${String(id)}`);
  await ask("POST", `${app}/users`, { external_id: "eve", subscriptions: [{ channel: "ios_push", token: aToken() }] });
  await ask("POST", `${app}/users`, { external_id: "anon", subscriptions: [{ channel: "ios_push", token: aToken() }] });
  await ask("POST", `${app}/users/by/external_id/anon/merge`, { into: { label: "external_id", id: "eve" } });
  await ask("DELETE", `${app}/users/by/external_id/eve`);
  await ask("POST", `${app}/users`, { external_id: "mal", subscriptions: [{ channel: "ios_push", token: aToken() }] });
  await ask("GET", `${app}/users/by/external_id/mal/data`);
  await ask("POST", `${app}/users/by/external_id/mal/erase`);
};

const useEvents = async (ask: Ask, { app: { _id: appId }, db }: Sending["system"]): Promise<void> => {
  const app = `/v1/apps/${appId}`;
  const event = { id: "e-1", name: "order.paid", external_id: "ann" };
  await ask("POST", `${app}/events`, { events: [event, { name: "visit" }] });
  await ask("POST", `${app}/events`, { events: [event] }); // known by its id
  for (let n = 0; n < 2; n++) await ask("POST", `${app}/events`, { events: [{ name: "visit" }] }, "visit-1");
  await ask("GET", `${app}/webhooks/event-types`);
  await ask("PATCH", `${app}/events/definitions/visit`, { is_conversion: true });
  const people = [{ external_id: "bob" }, { subscription_id: "sub_nobody" }, { user_id: "usr_nobody" }];
  const properties = { page: "home" };
  await ask("POST", `${app}/events`, { events: people.map((person) => ({ name: "visit", properties, ...person })) });
  const isCounted = async () => (await db.collection("conversions").countDocuments({ app_id: appId })) >= people.length; // those of before may be among them
  await until(isCounted, 60_000);
  for (const query of ["", "?limit=1"]) await ask("GET", `${app}/events/definitions${query}`);
  await ask("GET", `${app}/events/definitions/visit`);
};

/** Endpoints where nobody listens: their deliveries are made, tried and put off; the second one's are grouped. */
const addWebhooks = async ({ system: { db, app, tenantId } }: Sending): Promise<void> => {
  const rows = (["whk_1", "whk_2"] as const).map((id) => {
    const secret = keyRing(testKeyRing).seal(
      `whsec_${Buffer.alloc(32, 5).toString("base64")}`,
      `webhooks/${id}/secret`,
    );
    const of = { _id: id, tenant_id: tenantId, app_id: app._id, batch: id === "whk_2" };
    return aWebhook({ ...of, url: "http://127.0.0.1:9/", secret, events: ["delivery.sent"] });
  });
  await db.collection<WebhookRow>("webhooks").insertMany(rows);
};

const useNotifications = async (sending: Sending, api: SystemProgram): Promise<void> => {
  const { system, apns } = sending;
  const devices = await seedDevices(system, 1_100);
  const [gone] = await seedDevices(system, 1, { token: aToken("dead") });
  const [busy] = await seedDevices(system, 1, { token: aToken("b0ff") });
  apns.script({
    answers: [
      { address_prefix: "dead", status: 410, reason: "Unregistered" },
      { address_prefix: "b0ff", status: 503, reason: "ServiceUnavailable", retry_after_seconds: 1, times: 1 },
    ],
  });
  const ids = devices.map(({ _id }) => _id);
  const targets = [
    { include_subscription_ids: [ids[0], gone?._id, busy?._id] },
    { include_subscription_ids: ids.slice(0, 600) },
    { include_external_ids: ["ann", "bob"], include_aliases: { crm: ["a-1"] } },
    { all: true, test_devices_only: true },
    { all: true },
  ];
  const sent = await Promise.all(
    targets.map((target) =>
      send(system, api, { target, labels: ["a"], category: "b", contents: { en: "Hello", de: "Hallo" } }),
    ),
  );
  const later = { send_after: new Date(Date.now() + 1_000).toISOString(), target: { include_subscription_ids: ids } };
  sent.push(await send(system, api, later));
  for (const ios_badge_type of ["SetTo", "Increase"])
    sent.push(await send(system, api, { target: targets[0], collapse_id: "c", ios_badge_type, ios_badge_count: 2 }));
  sent.push(...(await useTiming(system, api, targets[0] ?? {})));
  const keyed = { target: targets[0], idempotency_key: "once" };
  sent.push(await send(system, api, keyed));
  await post(system, api, keyed);
  await Promise.all(sent.map((id) => system.ended(id, 120_000)));
  const isRefused = async () =>
    (await system.db.collection("webhook_deliveries").findOne({ status: "failed" })) !== null;
  await until(isRefused, 60_000);
};

/** A text whose link is followed, and a card, which becomes a template. */
const useTexts = async (system: Sending["system"], api: SystemProgram, twilio: TwilioSimulator): Promise<void> => {
  const [sms, rcs] = [await seedPhone(system), await seedPhone(system, "rcs")];
  const to = ({ _id, channel }: typeof sms) => ({ target: { include_subscription_ids: [_id], channels: [channel] } });
  const card = { rcs_card: { title: { en: "Order" }, media_url: "https://shop.example/a.jpg" } };
  const ids = [
    await send(system, api, { ...to(sms), contents: { en: "See https://shop.example/." } }),
    await send(system, api, { ...to(rcs), ...card }),
  ];
  for (const id of ids) await system.ended(id, 20_000);
  const [entry] = twilio.channels["sms"]?.log.page() ?? [];
  const [path = ""] = /\/l\/\w+/.exec(entry?.body ?? "") ?? [];
  await fetch(api.url + path, { redirect: "manual" });
};

const useSuppressions = async (ask: Ask, list: string): Promise<void> => {
  const address = { channel: "email", address: "ann@example.com" };
  const { id } = await ask("POST", list, address);
  await ask("POST", list, { entries: [{ ...address, reason: "complaint" }, { external_id: "eve" }] });
  const filters = ["", "address=ann@example.com", "external_id=eve", "reason=complaint&channel=email", "category=a"];
  for (const filter of filters)
    for (const sort of ["created_at", "-created_at"]) await ask("GET", `${list}?${filter}&sort=${sort}`);
  await ask("DELETE", `${list}/${String(id)}?force=true`);
};

/** As the operator has it done. */
const removeApp = async ({ db, tenantId }: Sending["system"]): Promise<void> => {
  const gone = { _id: "app_gone", tenant_id: tenantId };
  await removals(db).begin(appRemoval(gone, new Date()));
  await until(
    async () =>
      (await collectionOf<RemovalRow>(db, removalCollection).countDocuments({ _id: gone._id, passes: 1 })) === 1,
    10_000,
  );
};

/** The operations of webhooks, with the deliveries of the endpoint where nobody listens. */
const useWebhooks = async (ask: Ask, webhooks: string, db: Db): Promise<void> => {
  const { id: made } = await ask("POST", webhooks, { url: "https://hooks.example.com/", events: ["delivery.sent"] });
  const of = `${webhooks}/whk_1`;
  await ask("GET", webhooks);
  await ask("PATCH", of, { description: "nobody is here" });
  await ask("POST", `${of}/rotate-secret`);
  await ask("POST", `${webhooks}/preview`, { event_type: "delivery.sent" });
  await ask("POST", `${of}/test`);
  await ask("GET", `${of}/health`);
  for (const filter of ["", "status=failed", "event_type=delivery.sent", "status=dead&event_type=webhook.test"])
    await ask("GET", `${of}/deliveries?limit=1&${filter}`);
  const batches = async () => (await ask("GET", `${webhooks}/whk_2/deliveries?status=failed`))["data"] as unknown[];
  await until(async () => (await batches()).length > 0, 60_000);
  await ask("DELETE", `${webhooks}/whk_2`);
  const [{ id }] = (await ask("GET", `${of}/deliveries?status=failed`))["data"] as [{ id: string }]; // at least one was refused
  await ask("GET", `${webhooks}/deliveries/${id}`);
  await ask("GET", `${webhooks}/deliveries/${id}/attempts`);
  await again(ask, webhooks, id, db);
  await ask("DELETE", `${webhooks}/${String(made)}`);
};

/** Sends one delivery again, what ended in vain, and everything: whatever waits is ended first, by disabling the endpoint. */
const again = async (ask: Ask, webhooks: string, deliveryId: string, db: Db): Promise<void> => {
  const of = `${webhooks}/whk_1`;
  await disable(ask, of, db);
  await ask("PATCH", of, { status: "active" });
  await ask("POST", `${webhooks}/deliveries/${deliveryId}/replay`);
  const since = new Date(Date.now() - 3_600_000).toISOString();
  for (const [how, filter] of [
    ["recover", {}],
    ["replay", {}],
    ["replay", { event_type: "delivery.sent" }],
  ] as const) {
    await ask("POST", `${of}/${how}`, { since, ...filter });
    await until(async () => (await recoveryOf(ask, of)).status === "completed", 60_000);
  }
  await disable(ask, of, db);
};

/** Until nothing is due any more. */
const disable = async (ask: Ask, of: string, db: Db): Promise<void> => {
  await ask("PATCH", of, { status: "disabled" });
  const dueIn = (name: string) => db.collection(name).findOne({ due_at: { $ne: null } });
  const due = async () => (await dueIn("webhook_deliveries")) ?? (await dueIn("webhooks"));
  await until(async () => (await due()) === null, 30_000).catch(async (error: Error) => {
    throw new Error(`${error.message}: this is still due: ${JSON.stringify(await due())}`);
  });
};

const recoveryOf = async (ask: Ask, of: string): Promise<{ status: string }> =>
  (await ask("GET", of))["recovery"] as { status: string };
