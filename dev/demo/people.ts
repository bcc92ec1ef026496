import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CreateSubscription, Subscription } from "#core/schema/people/subscription.ts";
import { type Channel, channels } from "#core/schema/vocabulary/channels.ts";
import type { BrowserSubscription } from "../simulators/kit/web-push-keys.ts";
import type { Rest } from "./rest.ts";
import type { Addresses } from "./settings.ts";

/** Somebody to write to: a user with one subscription, known to the provider's simulator by `address`. */
export type Person = { channel: Channel; externalId: string; address: string; subscription: Subscription };

/** Registers a user for each channel, with a subscription. Users and tokens stay the same from run to run. */
export const register = async (
  rest: Rest,
  appId: string,
  { dir, at }: { dir: string; at: Addresses },
): Promise<Person[]> => {
  const wanted = subscriptions(await browser(dir, at));
  return Promise.all(channels.map((channel) => registerOne(rest, appId, { channel, ...wanted[channel] })));
};

const registerOne = async (
  rest: Rest,
  appId: string,
  { channel, externalId, token, web }: NewPerson,
): Promise<Person> => {
  await rest.post(`/v1/apps/${appId}/users`, { external_id: externalId, language: "en" });
  const body: CreateSubscription = { channel, token, ...(web && { web }), status: "subscribed" };
  const path = `/v1/apps/${appId}/users/by/external_id/${externalId}/subscriptions`;
  return { channel, externalId, address: token, subscription: await rest.post<Subscription>(path, body) };
};

type NewPerson = { channel: Channel; externalId: string; token: string; web?: BrowserSubscription["keys"] };

const subscriptions = ({ endpoint, keys }: BrowserSubscription): Record<Channel, Omit<NewPerson, "channel">> => ({
  ios_push: { externalId: "ada", token: digest("iPhone").toString("hex") },
  android_push: { externalId: "ben", token: `demo:${digest("Android").toString("base64url")}` },
  hms_push: { externalId: "eva", token: digest("Huawei").toString("base64url").repeat(3) },
  web_push: { externalId: "cleo", token: endpoint, web: keys },
  email: { externalId: "dora", token: "dora@example.com" },
  sms: { externalId: "emil", token: "+4915112345601" },
  rcs: { externalId: "fritz", token: "+4915112345602" },
  whatsapp: { externalId: "greta", token: "+4915112345603" },
});

const digest = (device: string): Buffer => createHash("sha256").update(`the demo's ${device}`).digest();

/** A browser's subscription, given out by the simulated push service and kept, as a browser keeps it. */
const browser = async (dir: string, at: Addresses): Promise<BrowserSubscription> => {
  const file = join(dir, "demo", "browser.json");
  const kept = readKept(file);
  if (kept?.endpoint.startsWith(at.webPush)) return kept;
  const reply = await fetch(`${at.control}/subscriptions?channel=web_push`, { method: "POST" });
  const [given] = (await reply.json()) as BrowserSubscription[]; // dev/simulators/kit/control.ts
  if (given === undefined) throw new Error("the push service gave out no subscription");
  writeFileSync(`${file}.new`, JSON.stringify(given));
  renameSync(`${file}.new`, file);
  return given;
};

const readKept = (file: string): BrowserSubscription | null => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as BrowserSubscription; // written above
  } catch {
    return null; // the first run
  }
};
