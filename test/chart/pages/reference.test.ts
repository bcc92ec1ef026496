import { expect } from "chai";
import type { Page } from "puppeteer-core";
import { document as openapi } from "../../../apiserver/features.ts";
import { reference } from "../../../apiserver/reference/outside.ts";
import { until } from "../../support/until.ts";
import { barriers, type Site, startSite } from "./browser.ts";

/** One of each sort, and those that have the most to show. */
const pages = [
  "",
  "operations/createNotification",
  "operations/createWebhook",
  "operations/getHealth",
  "schemas/LiveActivity",
  "events/conversion.created",
  "errors",
];
const unfold = "document.querySelectorAll('details').forEach((one) => (one.open = true))";

/** What is wider than the room that it has. */
const tooWide = `[...document.querySelectorAll("html, main *")]
  .filter((one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== "inline")
  .map((one) => one.outerHTML.slice(0, 100))`;

describe("the API reference in a browser", () => {
  let site: Site;

  before(async () => {
    site = await startSite("/docs/", reference(openapi).bind({ settings: { publicUrl: "https://api.example.com" } }));
  });
  beforeEach(() => {
    site.complaints.length = 0;
  });
  after(() => site?.close());

  const looks = [
    { scheme: "light", back: "rgb(255, 255, 255)", of: pages },
    { scheme: "dark", back: "rgb(22, 24, 27)", of: ["", "operations/createNotification", "errors"] },
  ] as const;
  for (const { scheme, back, of } of looks) {
    for (const path of of) {
      it(`can be used by everybody, everything unfolded: ${scheme}, ${path || "the first page"}`, async () => {
        const page = await site.open(path, { scheme });
        expect(await barriers(page, unfold)).to.deep.equal([]);
        expect(await page.evaluate("getComputedStyle(document.body).backgroundColor")).to.equal(back);
        expect(site.complaints, "it asks for what it may not have").to.deep.equal([]);
        await page.close();
      });
    }
  }

  it("takes less than 2 s of a processor to be shown", async () => {
    const page = await site.open("operations/createNotification");
    const client = await page.createCDPSession();
    await client.send("Performance.enable", { timeDomain: "threadTicks" });
    await page.reload({ waitUntil: "networkidle0" });
    const { metrics } = await client.send("Performance.getMetrics");
    const seconds = metrics.find(({ name }) => name === "TaskDuration")?.value;
    expect(seconds).to.be.within(0.001, 2);
    await page.close();
  });

  it("cuts nothing off and needs no scrolling sideways, on a screen of any width", async () => {
    for (const path of pages) {
      const page = await site.open(path);
      for (const width of [320, 1_200]) {
        await page.setViewport({ width, height: 800 });
        await page.evaluate(unfold);
        const wide = await page.evaluate(tooWide);
        expect(wide, `${path} at ${width}`).to.deep.equal([]);
      }
      await page.close();
    }
  });

  const focused = (page: Page) => page.evaluate("document.activeElement.textContent");

  it("is searched and read by keyboard alone", async () => {
    const page = await site.open("errors");
    await page.keyboard.press("/");
    await page.keyboard.type("notification badge_count");
    await page.waitForSelector("#found a");
    await page.keyboard.press("ArrowDown");
    expect(await focused(page)).to.match(/^Accept a notification for delivery/);
    await Promise.all([page.waitForNavigation(), page.keyboard.press("Enter")]);
    expect(page.url()).to.equal(`${site.url}operations/createNotification`);
    await page.keyboard.press("Tab");
    expect(await focused(page)).to.equal("Skip to the content");
    await page.keyboard.press("/");
    await page.keyboard.type("nothing has this");
    await until(async () => (await page.$eval("#count", ({ textContent }) => textContent)) === "0 found");
    await page.close();
  });

  it("leads to a member that is folded", async () => {
    const page = await site.open("operations/createNotification#body.whatsapp_template.name");
    const top = await page.$eval("[id='body.whatsapp_template.name']", (one) => one.getBoundingClientRect().top);
    const { height } = page.viewport() ?? expect.fail("it has no size");
    expect(top).to.be.within(1, height); // 0 while it is folded
    await page.close();
  });

  it("keeps the scheme and the language of the examples that a reader chose", async () => {
    const page = await site.open("");
    for (const choice of ["#theme", "#theme", ".sample:nth-of-type(2) summary"]) await page.click(choice);
    await page.goto(`${site.url}operations/getUsage`, { waitUntil: "networkidle0" });
    const kept = await page.evaluate(
      "[getComputedStyle(document.body).backgroundColor, document.querySelector('.sample[open] summary').textContent]",
    );
    expect(kept).to.deep.equal(["rgb(22, 24, 27)", "TypeScript"]);
    await page.close();
  });

  it("says the same without scripts", async () => {
    const page = await site.open("operations/createNotification", { isScripted: false });
    const hidden = await page.$$eval("#theme, search", (all) => all.filter((one) => one.checkVisibility()).length);
    const links = await page.$$eval("#contents a", (all) => all.length);
    expect(hidden).to.equal(0);
    expect(links).to.be.above(75);
    await page.close();
  });
});
