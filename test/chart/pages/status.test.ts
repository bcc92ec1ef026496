import { expect } from "chai";
import { components, type Status } from "#core/schema/status/vocabulary.ts";
import type { Look } from "../../../apiserver/status/board.ts";
import { statusPage } from "../../../apiserver/status/outside.ts";
import { barriers, type Site, startSite } from "./browser.ts";

const now = new Date("2026-11-23T12:00:00Z");
const each = <T>(value: T) => Object.fromEntries(components.map((name) => [name, value])) as Record<Component, T>;
type Component = (typeof components)[number];

const aLook = (status: Status): Look => ({
  checkedAt: now,
  status,
  states: { ...each("operational" as const), delivery: status },
  incidents: [
    {
      _id: "inc_1",
      title: "Pushes are late",
      severity: "major",
      components: ["delivery"],
      status: "identified",
      updates: [{ status: "identified", message: "Apple answers slowly.", created_at: now }],
      started_at: now,
      resolved_at: null,
      managed: null,
      created_at: now,
      updated_at: now,
    },
  ],
  days: [
    { _id: "2026-11-22", minutes: each({ operational: 1_400, major_outage: 40 }), last_minute: 0, created_at: now },
    { _id: "2026-11-23", minutes: each({ operational: 700, degraded: 20 }), last_minute: 0, created_at: now },
  ],
});

describe("the status page in a browser", () => {
  let look = aLook("operational");
  let site: Site;

  before(async () => {
    const settings = { publicUrl: "http://127.0.0.1" };
    site = await startSite("/status/", statusPage.bind({ status: { now: () => look }, settings }));
  });
  beforeEach(() => {
    site.complaints.length = 0;
  });
  after(() => site?.close());

  for (const scheme of ["light", "dark"] as const) {
    for (const status of ["operational", "degraded", "major_outage"] as const) {
      it(`can be used by everybody: ${scheme}, ${status}`, async () => {
        look = aLook(status);
        const page = await site.open("", { scheme });
        expect(await barriers(page)).to.deep.equal([]);
        const back = await page.evaluate("getComputedStyle(document.body).backgroundColor");
        expect(back).to.equal(scheme === "light" ? "rgb(244, 245, 247)" : "rgb(22, 24, 27)");
        expect(site.complaints).to.deep.equal([]);
        await page.close();
      });
    }
  }

  it("says the same without scripts, on a screen of any width", async () => {
    const page = await site.open("", { isScripted: false });
    for (const width of [320, 1_200]) {
      await page.setViewport({ width, height: 800 });
      const [bars, overflows] = [
        await page.$$eval(".bars i", (all) => all.length),
        await page.$eval("html", (root) => root.scrollWidth > root.clientWidth),
      ];
      expect([bars, overflows]).to.deep.equal([90 * components.length, false]);
    }
    expect(await page.$eval("article h3", (title) => title.textContent)).to.equal("Pushes are late");
    await page.close();
  });
});
