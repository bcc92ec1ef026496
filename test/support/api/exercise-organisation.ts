import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";

/** Apps, and the settings of one. */
export const useApps = async (ask: Ask, app: string): Promise<void> => {
  const { id } = await ask("POST", "/v1/apps", { name: `another of ${app}` });
  await ask("GET", "/v1/apps");
  await ask("GET", `/v1/apps/${String(id)}`);
  await ask("PATCH", `/v1/apps/${String(id)}`, { time_zone: "Europe/Rome" });
  await useSettings(ask, `${app}/settings`);
  await removeApp(ask, `/v1/apps/${String(id)}`);
};

/** Accounts of an app at providers, and what testing them came to. */
export const useChannels = async (ask: Ask, list: string): Promise<void> => {
  const subject = "mailto:push@example.com";
  const secrets = { private_key: Buffer.alloc(32, 7).toString("base64url") };
  await ask("PUT", `${list}/web_push`, { settings: { subject }, secrets });
  await ask("GET", `${list}/web_push`);
  await ask("DELETE", `${list}/web_push`);
  await ask("POST", `${list}/ios_push/test`);
  await until(async () => {
    const { data } = await ask("GET", list);
    const channels = data as { channel: string; check: unknown }[];
    return channels.some(({ channel, check }) => channel === "ios_push" && check !== null);
  }, 60_000);
};

/** Takes an app away, until something of it has gone. */
const removeApp = async (ask: Ask, app: string): Promise<void> => {
  await ask("POST", `${app}/users`, { external_id: "ann" });
  await ask("POST", `${app}/webhooks`, { url: "https://hooks.example.com/", events: ["delivery.sent"] });
  await ask("DELETE", app);
  const removed = async () => ((await ask("GET", app))["removal"] as { removed: number }).removed;
  await until(async () => (await removed()) >= 2, 30_000);
};

/** Settings of an app. */
const useSettings = async (ask: Ask, path: string): Promise<void> => {
  await ask("GET", path);
  await ask("PATCH", path, { time_zone: "Europe/Berlin" });
};

/** Who changed what; it is read in the same way with every filter. */
export const useAudit = async (ask: Ask, app: string): Promise<void> => {
  for (const place of ["/v1", app]) {
    await ask("GET", `${place}/audit-log`);
    await ask("GET", `${place}/audit-log?target_type=webhook&sort=at&limit=1`);
  }
};

/** Keys of the organisation. */
export const useKeys = async (ask: Ask): Promise<void> => {
  const { id } = await ask("POST", "/v1/api-keys", { name: "another", scopes: ["events:write"] });
  const path = `/v1/api-keys/${String(id)}`;
  await ask("GET", "/v1/api-keys");
  await ask("GET", path);
  await ask("PATCH", path, { name: "yet another" });
  await ask("POST", `${path}/rotate`, { overlap_hours: 0 });
  await ask("DELETE", path);
};
