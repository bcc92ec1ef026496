import { expect } from "chai";
import type { Page } from "puppeteer-core";
import { send } from "../../support/system/sending.ts";
import { until } from "../../support/until.ts";
import { barriers } from "../pages/browser.ts";
import type { Service } from "./service.ts";

/** What a browser does about the inbox of its person. */
export const inboxCases = (service: () => Service): void => {
  const at = (part: string): string => `herald-inbox >>> [part~=${part}]`;
  const textOf = (page: Page, part: string): Promise<string> =>
    page.$eval(at(part), ({ textContent }) => `${textContent}`);
  const isHidden = (page: Page, part: string): Promise<boolean> =>
    page.$eval(at(part), (one) => one.hasAttribute("hidden"));
  const titles = (page: Page): Promise<string[]> =>
    page.$$eval(at("title"), (all) => all.map(({ textContent }) => `${textContent}`));
  const leave = async (subscription: string, message: object): Promise<void> => {
    const { system, api } = service();
    const target = { include_subscription_ids: [subscription] };
    await system.ended(await send(system, api, { target, add_to_inbox: true, ...message }), 60_000);
  };

  it("shows the inbox in two tabs, of which one listens, and what is done in one is seen in both", async () => {
    const first = await service().openFresh();
    await first.goto(`${service().site.origin}/inbox`);
    const subscription = await service().subscribe(first);
    const second = await service().site.open("/inbox");
    expect(await isHidden(second, "badge")).to.equal(true);
    await leave(subscription, {
      headings: { en: "Your parcel" },
      contents: { en: "It is here" },
      url: `${service().site.origin}/offer`,
    });
    await leave(subscription, { contents: { en: "<b>Only</b> today" } });
    for (const page of [first, second]) await until(async () => (await textOf(page, "badge")) === "2");
    expect(await first.$eval(at("button"), (one) => one.getAttribute("aria-label"))).to.equal("Inbox, 2 unread");
    await first.bringToFront(); // what lies behind cannot be clicked
    await first.click(at("button"));
    await until(async () => (await titles(first)).length === 2);
    expect(await titles(first)).to.deep.equal(["<b>Only</b> today", "Your parcel"]);
    const seen = { app_id: service().system.app._id, unseen: 0, unread: 2 };
    await until(async () => (await service().system.db.collection("inboxes").countDocuments(seen)) === 1);

    await first.click(`${at("item")}:first-child [data-act=read]`);
    for (const page of [first, second]) await until(async () => (await textOf(page, "badge")) === "1");
    const focused = () =>
      first.evaluate("document.querySelector('herald-inbox').shadowRoot.activeElement?.dataset.act");
    await first.waitForSelector(`${at("item")}:first-child [data-act=unread]`);
    await first.focus(`${at("item")}:first-child [data-act=archived]`);
    await first.keyboard.press("Enter");
    await until(async () => (await titles(first)).length === 1);
    expect(await focused()).to.equal("open");
    await Promise.all([first.waitForNavigation(), first.keyboard.press("Enter")]);
    expect(first.url()).to.equal(`${service().site.origin}/offer`);
    await until(async () => isHidden(second, "badge")); // the tab that listened is gone, and this one does
    await second.bringToFront(); // timers of what lies behind wait for a minute
    await leave(subscription, { contents: { en: "Again" } });
    await until(async () => (await textOf(second, "badge")) === "1", 45_000); // half a minute where the stream is refused
    // so fast a person makes more requests than a device may, and the client waits as it is told to
    expect(service().site.complaints.filter((text) => !text.includes("429"))).to.deep.equal([]);
    service().site.complaints.length = 0;
    await first.close();
    await second.close();
  });

  it("says that its inbox cannot be read offline, and shows what came meanwhile once the network is back", async () => {
    const page = await service().openFresh();
    await page.goto(`${service().site.origin}/inbox`);
    const subscription = await service().subscribe(page);
    await page.evaluate(`document.querySelector("herald-inbox").app = null`); // Chromium leaves a stream open that it has
    await page.setOfflineMode(true);
    await page.evaluate(`document.querySelector("herald-inbox").app = app`);
    await page.click(at("button"));
    await until(async () => !(await isHidden(page, "problem")));
    await leave(subscription, { contents: { en: "Meanwhile" } });
    await page.setOfflineMode(false);
    await until(async () => (await titles(page)).length === 1 && (await textOf(page, "badge")) === "1", 45_000); // by itself it comes back after a minute
    expect(await isHidden(page, "problem")).to.equal(true);
    await page.close();
    service().site.complaints.length = 0; // the browser's own lines about the network
  });

  it("shows its items by itself when the service takes requests again that it refused for their rate", async () => {
    const page = await service().openFresh();
    await page.goto(`${service().site.origin}/inbox`);
    await leave(await service().subscribe(page), { contents: { en: "Late" } });
    await until(async () => (await textOf(page, "badge")) === "1");
    await refuse(page, { path: "/sdk/v1/inbox?limit=20", times: 4 });
    await page.click(at("button"));
    await until(async () => !(await isHidden(page, "problem")));
    await until(async () => (await titles(page)).length === 1);
    expect(await isHidden(page, "problem")).to.equal(true);
    await page.close();
    service().site.complaints.length = 0; // the browser's own lines about what was refused
  });

  it("is not sent its counters again where it has no stream and nothing has changed", async () => {
    const page = await service().openFresh();
    await refuse(page, { path: "/sdk/v1/inbox/stream", times: Number.POSITIVE_INFINITY, status: 503 });
    const told: number[] = [];
    page.on("response", (response) => {
      if (response.url().includes("/sdk/v1/inbox?") && response.request().method() === "GET")
        told.push(response.status());
    });
    const subscription = await service().subscribe(page);
    await page.evaluate("unread = null; app.inbox.watch(({ unread_count }) => (unread = unread_count))");
    await until(async () => told.length === 1 && (await page.evaluate("unread")) === 0);
    const askAgain = () => page.evaluate("dispatchEvent(new Event('online'))"); // sooner than after half a minute
    await until(async () => (await askAgain(), told.includes(304)), 60_000, 1_100); // a device asks once a second
    await leave(subscription, { contents: { en: "Now" } });
    await until(async () => (await askAgain(), (await page.evaluate("unread")) === 1), 60_000, 1_100);
    await page.close();
    service().site.complaints.length = 0; // the browser's own lines about what was refused
  });

  for (const scheme of ["light", "dark"] as const)
    it(`keeps nobody from using its inbox, in ${scheme} colours`, async () => {
      const fresh = await service().openFresh();
      await leave(await service().subscribe(fresh), { contents: { en: "Look" } });
      await fresh.close();
      const page = await service().site.open("/inbox");
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const open = `(async () => {
        const { shadowRoot } = document.querySelector("herald-inbox");
        shadowRoot.querySelector("[part=button]").click();
        const lastMs = Date.now() + 60_000;
        while (!shadowRoot.querySelector("[part~=item]")) {
          if (Date.now() > lastMs) throw new Error("no item: " + shadowRoot.querySelector("[part=panel]").innerText);
          await new Promise((resolve) => setTimeout(resolve, 10));
        }
      })()`;
      expect(await barriers(page, open, "load")).to.deep.equal([]);
      await page.close();
    });

  it("fits its inbox on 320 px and on a wide screen, open, whatever an item says", async () => {
    const first = await service().openFresh();
    await first.goto(`${service().site.origin}/inbox`);
    const subscription = await service().subscribe(first);
    const word = "W".repeat(200); // no browser breaks it by itself
    await leave(subscription, {
      headings: { en: word },
      contents: { en: `${word} https://shop.example/${word}` },
      buttons: [1, 2, 3].map((n) => ({ id: `${n}`, text: `${n} ${word.slice(0, 20)}`, url: "https://shop.example/" })),
    });
    const second = await service().site.open("/inbox");
    for (const [page, width] of [
      [first, 320],
      [second, 1_280],
    ] as const) {
      await page.bringToFront(); // what lies behind cannot be clicked
      await page.setViewport({ width, height: 480 });
      await until(async () => (await textOf(page, "badge")) === "1", 45_000); // half a minute where the stream is refused
      await page.click(at("button"));
      await until(async () => (await titles(page)).length === 1); // it is in its place before its items are asked for
      expect(await page.evaluate(beyondEdges), `${width} px`).to.deep.equal({ isInside: true, beyond: [], wide: 0 });
      if (width === 320) await page.close();
    }
    await second.setViewport({ width: 400, height: 1_000 });
    await until(async () => (await second.evaluate(gapOfPanel)) === 8);
    expect(await second.evaluate(beyondEdges), "narrower").to.deep.equal({ isInside: true, beyond: [], wide: 0 });
    await second.evaluate("document.body.style.minHeight = '2000px'; scrollTo(0, 20)");
    expect(await second.evaluate("scrollY")).to.equal(20);
    await until(async () => (await second.evaluate(gapOfPanel)) === 8); // 28 where it stays
    await second.close();
    service().site.complaints.length = 0;
  });
};

type Refused = { path: string; times: number; status?: number };

/** Answers some requests of a page as the service does those of a device that makes too many, or with another status. */
const refuse = async (page: Page, { path, times, status = 429 }: Refused): Promise<void> => {
  let refused = 0;
  const open = { "Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "Retry-After" };
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isRefused = request.method() === "GET" && request.url().includes(path) && refused++ < times;
    const headers = { ...open, "Retry-After": "1" };
    void (isRefused ? request.respond({ status, headers, body: "{}" }) : request.continue());
  });
};

/** How far an open inbox is below its button, px. */
const gapOfPanel = `(() => {
  const { shadowRoot } = document.querySelector("herald-inbox");
  const of = (part) => shadowRoot.querySelector("[part=" + part + "]").getBoundingClientRect();
  return Math.round(of("panel").top - of("button").bottom);
})()`;

/** What of an open inbox is outside of the window, or of its panel. */
const beyondEdges = `(() => {
  const panel = document.querySelector("herald-inbox").shadowRoot.querySelector("[part=panel]");
  const { left, top, right, bottom } = panel.getBoundingClientRect();
  const isInside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  const beyond = [...panel.querySelectorAll("*")].filter((one) => one.getBoundingClientRect().right > right);
  const wide = [document.documentElement, panel].filter((one) => one.scrollWidth > one.clientWidth);
  return { isInside, beyond: beyond.map((one) => one.outerHTML), wide: wide.length };
})()`;
