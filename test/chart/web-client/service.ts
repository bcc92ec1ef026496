import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expect } from "chai";
import type { Page } from "puppeteer-core";
import webPushLibrary from "web-push";
import type { Manifest } from "../../../apiserver/web-client/outside.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import type { BrowserSubscription } from "../../../dev/simulators/kit/web-push-keys.ts";
import { startWebPush, type WebPushSimulator } from "../../../dev/simulators/web-push.ts";
import { testServers } from "../../support/servers/servers.ts";
import { call } from "../../support/system/calling.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { type BrowsedSite, browsedSite, type Files } from "./site.ts";

/** The running system with web pushes, and a browser with a site that has the client. */
export type Service = {
  system: System;
  api: SystemProgram;
  push: WebPushSimulator;
  site: BrowsedSite;
  /** Signs identity tokens of the app. */
  identityKey: KeyObject;
  /** The service's own answer: what a person's server asks with the app's key. */
  ask: (method: string, path: string, body?: object) => Promise<{ status: number; body: unknown }>;
  /** A tab with the client, whose browser is nobody's yet. */
  openFresh: () => Promise<Page>;
  /** Has a page's browser get pushes, as its person would; gives its subscription. */
  subscribe: (page: Page) => Promise<string>;
  stop: () => Promise<void>;
};

/** Starts all of that. What was started is stopped when a part fails. */
export const startService = async (): Promise<Service> => {
  const stack = new AsyncDisposableStack();
  try {
    const credentials = makeCredentials();
    const push = await startWebPush({ port: 0, tls: credentials.tls });
    stack.defer(() => push.stop());
    const system = await startSystem({ ...(await testServers()), apns: { url: "https://127.0.0.1:9", credentials } });
    stack.defer(() => system.stop());
    const api = await system.start("apiserver");
    await system.start("dispatcher", { HERALD_PUBLIC_URL: api.url });
    const { privateKey } = webPushLibrary.generateVAPIDKeys();
    const account = { settings: { subject: "mailto:ops@example.com" }, secrets: { private_key: privateKey } };
    const ask: Service["ask"] = (method, path, body) =>
      call(api)(system, method, `/v1/apps/${system.app._id}/${path}`, body);
    expect((await ask("PUT", "channels/web_push", account)).status).to.be.oneOf([200, 201]);
    const { privateKey: identityKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = publicKey.export({ type: "spki", format: "pem" });
    const settings = { identity_keys: [{ kid: "one", alg: "ES256", public_key: key }] };
    expect((await ask("PATCH", "settings", settings)).status).to.equal(200);
    const site = await browsedSite(() => filesOf(system.app._id, api.url));
    stack.defer(() => site.close());
    const openFresh = async () => {
      const page = await site.open("/app");
      await takeOut(page);
      return page;
    };
    const subscribe = async (page: Page) => {
      await page.evaluate(pushService(push.subscribe()));
      await page.bringToFront();
      await page.click("button");
      await page.waitForSelector('[data-done="true"]');
      return ((await page.evaluate("app.who()")) as { subscriptionId: string }).subscriptionId;
    };
    return { system, api, push, site, identityKey, ask, openFresh, subscribe, stop: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

/** Takes a page's browser out, as soon as it may change its subscription again: a device may once a second. */
export const takeOut = (page: Page): Promise<void> =>
  until(() => page.evaluate(isRemoved) as Promise<boolean>, 60_000, 1_100);

const isRemoved = `app.remove().then(() => true, (error) => {
  if (error.status !== 429) throw error;
  return false;
})`;

/** Stands for the push service, which Debian's build of Chromium has no key for. */
export const pushService = (
  given: BrowserSubscription,
): string => `PushManager.prototype.subscribe = async (options) => {
  if (options.userVisibleOnly !== true || options.applicationServerKey.length !== 87) throw new TypeError("options");
  return { toJSON: () => (${JSON.stringify(given)}) };
};`;

/** A worker that the site had before, into which Herald's is imported. */
const ownWorker = (address: string): string => `import { heraldWorker } from "${address}";
heraldWorker(self, { leavesOthers: true });
self.addEventListener("push", (event) => {
  const { title, delivery_id: isHerald } = event.data.json();
  if (!isHerald) event.waitUntil(registration.showNotification("Own: " + title, {}));
});`;

const filesOf = async (appId: string, url: string): Promise<Files> => {
  const { files } = (await (await fetch(`${url}/sdk/web/manifest.json`)).json()) as Manifest;
  const worker = await fetch(url + files["herald-worker.js"]?.path);
  const script = (name: string): string =>
    `<script src="${url}${files[name]?.path}" integrity="${files[name]?.integrity}" crossorigin="anonymous"></script>`;
  const start = `tokens = null;
    app = Herald.herald({
      appId: "${appId}",
      url: "${url}/",
      identityToken: (isRefused) => tokens?.[isRefused ? "fresh" : "kept"] ?? null,
    });
    document.querySelector("button").onclick = async ({ target }) => {
      target.dataset.done = await app.askForPush().catch(String);
    };`;
  const strict = `default-src 'none'; script-src 'self' ${url}; connect-src ${url}; worker-src 'self'`;
  const page = (body: string) => ({
    type: "text/html",
    policy: strict,
    body: `<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1><button>Tell me</button>${body}</main>`,
  });
  return {
    "/app": page(`${script("herald.js")}<script src="/start.js"></script>`),
    "/inbox": page(
      `<herald-inbox></herald-inbox>${script("herald.js")}${script("herald-inbox.js")}
        <script src="/start.js"></script><script src="/inbox.js"></script>`,
    ),
    "/inbox.js": { type: "text/javascript", body: `document.querySelector("herald-inbox").app = app;` },
    "/in-app": page(
      `${script("herald.js")}${script("herald-in-app.js")}
        <script src="/start.js"></script><script src="/in-app.js"></script>`,
    ),
    "/in-app.js": { type: "text/javascript", body: "showing = HeraldInApp.showInApp(app);" },
    "/start.js": { type: "text/javascript", body: start },
    "/": { type: "text/html", body: "<!doctype html><title>Shop</title>" },
    "/offer": { type: "text/html", body: "<!doctype html><title>Offer</title>" },
    "/herald-worker.js": { type: "text/javascript", body: await worker.text() },
    "/own-worker.js": { type: "text/javascript", body: ownWorker(url + files["worker.mjs"]?.path) },
  };
};
