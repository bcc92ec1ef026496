import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, type CDPSession, type Page, TargetType, type WebWorker } from "puppeteer-core";
import { findTool } from "../../../dev/files/find-tool.ts";
import { blankPage, launchBrowser } from "../pages/browser.ts";

/** Files of a site, by their paths. */
export type Files = Readonly<Record<string, { type: string; body: string; policy?: string }>>;

/** A site in a real browser, whose people agree to notifications. */
export type BrowsedSite = {
  origin: string;
  browser: Browser;
  /** A new tab; what the browser complains about is added to `complaints`. */
  open: (path?: string) => Promise<Page>;
  complaints: string[];
  /** Closes the tabs that a test which failed has left open: they go on as one install with all others. */
  closeTabs: () => Promise<void>;
  close: () => Promise<void>;
};

/** Serves a site and starts Chromium. @throws Error when there is none */
export const browsedSite = async (filesAt: (origin: string) => Promise<Files>): Promise<BrowsedSite> => {
  const executablePath = findTool("chromium");
  if (executablePath === null) throw new Error("chromium is missing: make install-chart-tools");
  let files: Files = {};
  const server = createServer((request, response) => {
    const file = files[(request.url ?? "").split("?")[0] ?? ""];
    response.writeHead(file === undefined ? 204 : 200, {
      ...(file && { "Content-Type": file.type }),
      ...(file?.policy !== undefined && { "Content-Security-Policy": file.policy }),
    });
    response.end(file?.body);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo; // sound: it listens on TCP
  const origin = `http://127.0.0.1:${port}`;
  files = await filesAt(origin);
  const browser = await launchBrowser(executablePath);
  await browser.defaultBrowserContext().overridePermissions(origin, ["notifications"]);
  const complaints: string[] = [];
  const tabs = new Set<Page>();
  return {
    origin,
    browser,
    complaints,
    open: async (path = "/") => {
      const page = await blankPage(browser);
      tabs.add(page);
      page.once("close", () => tabs.delete(page));
      page.on("pageerror", (error) => complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(message.text());
      });
      await page.goto(origin + path);
      return page;
    },
    closeTabs: async () => {
      await Promise.all([...tabs].map((page) => page.close()));
    },
    close: async () => {
      await browser.close();
      server.closeAllConnections();
      server.close();
    },
  };
};

/** What delivers pushes to the worker of a page, as a push service would: over the DevTools protocol. */
export const pushesTo = async (page: Page, scope: string): Promise<(data: string) => Promise<void>> => {
  const session: CDPSession = await page.createCDPSession();
  const registrationId = new Promise<string>((resolve) => {
    session.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
      const found = registrations.find(({ scopeURL }) => scopeURL === scope);
      if (found !== undefined) resolve(found.registrationId);
    });
  });
  await session.send("ServiceWorker.enable");
  const id = await registrationId;
  return (data) =>
    session.send("ServiceWorker.deliverPushMessage", { origin: new URL(scope).origin, registrationId: id, data });
};

/** The worker's own side. */
export const workerOf = async (browser: Browser, url: string): Promise<WebWorker> => {
  const target = await browser.waitForTarget((one) => one.type() === TargetType.SERVICE_WORKER && one.url() === url);
  const worker = await target.worker();
  if (worker === null) throw new Error(`${url} is no worker`);
  return worker;
};

/** What a worker shows: its calls of `showNotification`, once the events that they belong to are over. */
export type Shows = { title: string; body: string | undefined }[];

/**
 * Has a worker remember what it shows from now on. It is not asked which notifications there are: Chromium forgets one that it is
 * asked about before the system shows it.
 */
export const watchShows = (worker: WebWorker): Promise<unknown> =>
  worker.evaluate(`(() => {
    self.shows = [];
    self.waits = [];
    self.show ??= ServiceWorkerRegistration.prototype.showNotification;
    self.wait ??= ExtendableEvent.prototype.waitUntil;
    ServiceWorkerRegistration.prototype.showNotification = function (title, options) {
      self.shows.push({ title, body: options.body });
      return self.show.call(this, title, options);
    };
    ExtendableEvent.prototype.waitUntil = function (promise) {
      self.waits.push(promise);
      if (this.isTrusted) self.wait.call(this, promise);
    };
  })()`);

/** What it has shown since, when it is done with what it was handed; null as long as it was handed nothing. */
export const showsOf = (worker: WebWorker): Promise<Shows | null> =>
  worker.evaluate(
    "self.waits.length === 0 ? null : Promise.all(self.waits).then(() => self.shows)",
  ) as Promise<Shows | null>;

/**
 * Clicks the notification that is shown: hands it to the worker as the browser does, since the DevTools protocol cannot click what
 * the system shows. Gives the address that the worker opens, for a tab to go there; null for none. The worker is watched.
 */
export const clickShown = (worker: WebWorker): Promise<string | null> =>
  worker.evaluate(`(async () => {
    const [notification] = await registration.getNotifications();
    let opened = null;
    Clients.prototype.openWindow = async (url) => { opened = url; return null; };
    dispatchEvent(new NotificationEvent("notificationclick", { notification, action: "" }));
    await Promise.all(self.waits);
    return opened;
  })()`) as Promise<string | null>;
