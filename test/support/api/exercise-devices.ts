import { randomUUID } from "node:crypto";
import type { System, SystemProgram } from "../system/system.ts";
import { openStream } from "./event-stream.ts";
import type { Ask } from "./exercise.ts";
import { aVariant } from "./in-app-messages.ts";

/** What devices ask for: a registration, their inbox, and the in-app messages for them. */
export const useDevices = async (ask: Ask, { app: { _id: appId } }: System, api: SystemProgram): Promise<void> => {
  const headers: Record<string, string> = { "X-HS-App-Id": appId };
  const call = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const reply = await fetch(`${api.url}/sdk/v1/${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
    return (await reply.json()) as Record<string, unknown>; // every reply is an object
  };
  const token = randomUUID().replaceAll("-", "").repeat(2);
  const { subscription_token: secret } = await call("POST", "subscriptions", {
    install_id: randomUUID(),
    channel: "ios_push",
    token,
  });
  headers["X-HS-Subscription-Token"] = String(secret);
  await call("GET", "inbox");
  const stream = await openStream(api.url, headers);
  await stream.next();
  await stream.close();
  await call("POST", "inbox/state", { ids: "all", state: "seen" });
  const list = `/v1/apps/${appId}/in-app-messages`;
  const target = { excluded_segments: ["Germans"] };
  const shown = { name: "shown", status: "active", variants: [aVariant()], target };
  const { id } = await ask("POST", list, shown);
  await call("GET", "in-app-messages");
  await call("POST", `in-app-messages/${String(id)}/events`, { type: "impression", variant_id: "a" });
  await ask("GET", `${list}/${String(id)}/counts`);
};
