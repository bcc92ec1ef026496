import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "#core/domain/ids.ts";
import type { System, SystemProgram } from "../system/system.ts";
import { openStream } from "./event-stream.ts";
import type { Ask } from "./exercise.ts";
import { identitySigner } from "./identity-tokens.ts";
import { aVariant } from "./in-app-messages.ts";

const noState = { type: "object", properties: {} };

/** A device that has registered: what it asks with, and what it asks for. */
type Device = {
  id: string;
  appId: string;
  headers: Record<string, string>;
  call: (method: string, path: string, body?: object, token?: string) => Promise<Record<string, unknown>>;
};

/** What devices ask for. `note` is told of each request. */
export const useDevices = async (
  ask: Ask,
  { app: { _id: appId } }: System,
  api: SystemProgram,
  note: (method: string, path: string) => void,
): Promise<void> => {
  const { key, sign } = identitySigner();
  await ask("PATCH", `/v1/apps/${appId}/settings`, { identity_keys: [key] });
  const register = () => registered(api, appId, note);
  await useOwn(await register());
  const externalId = `device-${randomUUID()}`;
  await usePerson(await register(), externalId, await sign(appId, { external_id: externalId }));
  await useReports(await register());
  await useAddresses(await register(), sign);
  await ask("POST", `/v1/apps/${appId}/live-activities/types`, {
    name: "RunAttributes",
    content_state_schema: noState,
  });
  await ask("POST", `/v1/apps/${appId}/live-activities/RunAttributes/start`, {
    activity_id: "run-1",
    content_state: {},
    target: { all: true },
  });
  await useActivityTokens(await register());
  const reader = await register();
  await useInbox(reader, api);
  const list = `/v1/apps/${appId}/in-app-messages`;
  const target = { excluded_segments: ["Germans"] };
  const { id } = await ask("POST", list, { name: "shown", status: "active", variants: [aVariant()], target });
  await reader.call("GET", "in-app-messages");
  await reader.call("POST", `in-app-messages/${String(id)}/events`, { type: "impression", variant_id: "a" });
  await ask("GET", `${list}/${String(id)}/counts`);
};

const registered = async (
  { url }: SystemProgram,
  appId: string,
  note: (method: string, path: string) => void,
): Promise<Device> => {
  const headers: Record<string, string> = { "X-HS-App-Id": appId };
  const call: Device["call"] = async (method, path, body, token) => {
    note(method, `/sdk/v1/${path}`);
    const reply = await patiently(() =>
      fetch(`${url}/sdk/v1/${path}`, {
        method,
        headers: {
          ...headers,
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    );
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>; // every reply is an object
  };
  const token = randomUUID().replaceAll("-", "").repeat(2);
  const made = await call("POST", "subscriptions", { install_id: randomUUID(), channel: "ios_push", token });
  headers["X-HS-Subscription-Token"] = String(made["subscription_token"]);
  return { id: String(made["subscription_id"]), appId, headers, call };
};

/** Waits as a device does that is told to: all of them register from one address. */
const patiently = async (ask: () => Promise<Response>): Promise<Response> => {
  const reply = await ask();
  if (reply.status !== 429) return reply;
  await sleep(Number(reply.headers.get("retry-after")) * 1_000);
  return patiently(ask);
};

const useOwn = async ({ id, call }: Device): Promise<void> => {
  await call("GET", "config");
  await call("GET", `subscriptions/${id}`);
  await call("PATCH", `subscriptions/${id}`, { language: "de", status_detail: 1 });
  await call("DELETE", `subscriptions/${id}`);
};

const usePerson = async ({ call }: Device, external_id: string, token: string): Promise<void> => {
  await call("PATCH", "user", { tags: { plan: "gold" }, timezone: "Europe/Berlin" });
  await call("PUT", "user/preferences", { categories: { promo: { ios_push: false, email: false } } });
  await call("PUT", "user/preferences", { categories: { promo: { ios_push: true } } });
  await call("GET", "user/preferences");
  await call("POST", "login", { external_id, aliases: { crm: external_id } }, token);
  await call("PUT", "user/aliases/shop", { id: external_id }, token);
  await call("DELETE", "user/aliases/crm", undefined, token);
  await call("POST", "logout", {});
  await call("POST", "erase", {});
};

const useReports = async ({ call }: Device): Promise<void> => {
  const now = new Date();
  await call("POST", "sessions", { started_at: now.toISOString(), duration_s: 60 });
  const receipt = { message_id: newId("message", now), occurred_at: now.toISOString() };
  await call("POST", "receipts", { receipts: [{ type: "opened", ...receipt }] });
  await call("POST", "events", { events: [{ id: randomUUID(), name: "cart.filled" }] });
};

const useAddresses = async (
  { id, appId, call }: Device,
  sign: ReturnType<typeof identitySigner>["sign"],
): Promise<void> => {
  const [external_id, mail, phone] = [`addressed-${randomUUID()}`, `${randomUUID()}@example.com`, "+4915112340099"];
  const subscriptions = [
    { type: "Email", token: mail },
    { type: "SMS", token: phone },
  ];
  const token = await sign(appId, { external_id }, { subscriptions });
  await call("POST", "login", { external_id }, token);
  await call("POST", `subscriptions/${id}/email`, { address: mail, opted_in: true }, token);
  await call("POST", `subscriptions/${id}/sms`, { address: phone }, token);
};

const useActivityTokens = async ({ call }: Device): Promise<void> => {
  const token = randomUUID().replaceAll("-", "").repeat(2);
  const [start, update] = ["RunAttributes/push-to-start-token", "activities/run-1/token"];
  for (const path of [start, update]) {
    await call("PUT", `live-activities/${path}`, { token });
    await call("DELETE", `live-activities/${path}`, {});
  }
};

const useInbox = async ({ call, headers }: Device, api: SystemProgram): Promise<void> => {
  await call("GET", "inbox");
  const stream = await openStream(api.url, headers);
  await stream.next();
  await stream.close();
  await call("POST", "inbox/state", { ids: "all", state: "seen" });
};
