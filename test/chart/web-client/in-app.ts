import { expect } from "chai";
import type { Page } from "puppeteer-core";
import type { InAppCountsRow } from "#core/storage/in-app-messages/counts.ts";
import { until } from "../../support/until.ts";
import { barriers } from "../pages/browser.ts";
import type { Service } from "./service.ts";

/** What a browser does about in-app messages. */
export const inAppCases = (service: () => Service): void => {
  const box = "[data-herald] >>> [part~=box]";
  const make = async (name: string, content: object, more: object = {}): Promise<string> => {
    const message = { name, status: "active", variants: [{ id: "a", weight_percent: 100, content }], ...more };
    const { status, body } = await service().ask("POST", "in-app-messages", message);
    expect(status, JSON.stringify(body)).to.equal(201);
    return (body as { id: string }).id;
  };
  const counted = async (id: string): Promise<object> => {
    const rows = service().system.db.collection<InAppCountsRow>("in_app_counts");
    return (await rows.findOne({ _id: id }))?.variants["a"] ?? {};
  };
  const isShown = async (page: Page, text: string): Promise<void> => {
    await page.waitForSelector(box);
    expect(await page.$eval(box, ({ textContent }) => textContent)).to.contain(text);
  };
  const open = async (): Promise<Page> => {
    const page = await service().site.open("/in-app");
    await page.evaluate("showing");
    return page;
  };

  it("shows an in-app message because of an event, once, and tells what the person did", async () => {
    const offer = `${service().site.origin}/offer`;
    const dear = { event: "cart.viewed", property: "total", op: "gte", value: 20 };
    const content = { layout: "modal", title: { en: "Free delivery" }, body: { en: "<i>On</i> this order" } };
    const modal = await make("modal", content, { triggers: [dear], priority: 9 });
    const buttons = [{ id: "start", text: { en: "Show me" }, action: "open", url: offer }];
    const triggers = [{ event: "cart.left" }, dear];
    const banner = await make("banner", { layout: "banner", body: { en: "Come back" }, buttons }, { triggers });

    await (await service().openFresh()).close();
    const page = await open();
    await page.bringToFront();
    await page.evaluate(`app.track("cart.viewed", { properties: { total: 19.9 } })`);
    await page.evaluate(`app.track("cart.viewed", { properties: { total: 20 } })`);
    await isShown(page, "Free delivery");
    expect(await page.$eval(box, ({ textContent }) => textContent)).to.contain("<i>On</i> this order");
    expect(await page.evaluate("document.activeElement.shadowRoot.activeElement.ariaLabel")).to.equal("Close");
    for (let i = 0; i < 3; i += 1) await page.keyboard.press("Tab"); // the focus stays inside, or is the browser's own
    expect(await page.evaluate("document.activeElement.tagName")).to.be.oneOf(["DIV", "BODY"]);
    await page.keyboard.press("Escape");
    await page.waitForFunction(`document.querySelector("[data-herald]")?.dataset.herald === "${banner}"`);
    await isShown(page, "Come back"); // it was due, too
    await page.evaluate(`app.track("cart.viewed", { properties: { total: 20 } })`); // each of them has had its time
    await Promise.all([page.waitForNavigation(), page.click("[data-herald] >>> [part=button]")]);
    expect(page.url()).to.equal(offer);
    await page.goto(`${service().site.origin}/in-app`); // sends what waits
    await until(async () => "dismissed" in (await counted(modal)) && "clicked" in (await counted(banner)));
    const first = { impression: 1, first_impression: 1 };
    expect(await counted(modal)).to.include({ ...first, dismissed: 1 });
    expect(await counted(banner)).to.include({ ...first, clicked: 1, first_clicked: 1 });
    await page.close();
  });

  it("shows messages of sessions, pages and times, one after the other, as often as they may be", async () => {
    const show = (text: string) => ({ layout: "center", title: { en: text } });
    await make("time", show("A second"), { triggers: [{ time_on_page: 1 }] });
    await make("page", show("A page"), { triggers: [{ page: "/shoes/*" }], redisplay: { limit: 2, after_hours: 0 } });
    await make("session", show("Welcome"), { triggers: [{ session: true }] });
    await (await service().openFresh()).close();
    const page = await service().site.open();
    await page.evaluate("localStorage.clear()");
    await page.goto(`${service().site.origin}/in-app`);
    await page.bringToFront();
    const closes = async (text: string): Promise<void> => {
      await page.waitForFunction(
        `document.querySelector("[data-herald]")?.shadowRoot.textContent.includes(${JSON.stringify(text)})`,
      );
      await page.click("[data-herald] >>> [part=close]");
    };
    await closes("Welcome");
    await closes("A second");
    const goOn = (path: string) => page.evaluate(`showing.then(({ page }) => page("${path}"))`);
    for (let i = 0; i < 3; i += 1) {
      await goOn("/shoes/1");
      if (i < 2) await closes("A page");
    }
    expect(await page.evaluate(`document.querySelector("[data-herald]")`)).to.equal(null);
    await page.close();
  });

  for (const [layout, scheme, background] of [
    ["banner", "dark", null],
    ["modal", "light", "#7a1fa2"],
    ["full", "dark", null],
    ["center", "light", "#ffd54f"],
  ] as const)
    it(`keeps nobody from reading a message as ${layout}, in ${scheme} colours`, async () => {
      const buttons = [{ id: "no", text: { en: "Later" } }];
      const content = { layout, title: { en: "Look" }, body: { en: "At this" }, background, buttons };
      await make(`look ${layout}`, content, {
        triggers: [{ event: `look.${layout}` }],
        redisplay: { limit: 9, after_hours: 0 },
      });
      const page = await service().openFresh();
      await page.goto(`${service().site.origin}/in-app`);
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      const look = `showing.then(() => app.track("look.${layout}")).then(async () => {
        while (!document.querySelector("[data-herald]")) await new Promise((resolve) => setTimeout(resolve, 10));
      })`;
      expect(await barriers(page, look, "load")).to.deep.equal([]);
      await page.close();
    });
};
