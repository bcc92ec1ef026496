import { expect } from "chai";
import type { Page } from "puppeteer-core";
import type { EventRow } from "#core/storage/events/events.ts";
import { until } from "../../support/until.ts";
import { type Service, takeOut } from "./service.ts";

/** What a browser tells of its person. */
export const eventCases = (service: () => Service): void => {
  const idOf = async (page: Page): Promise<string> => {
    await page.evaluate("app.subscription()");
    return ((await page.evaluate("app.who()")) as { subscriptionId: string }).subscriptionId;
  };
  const stored = (subscription_id: string): Promise<EventRow[]> =>
    service().system.db.collection<EventRow>("events").find({ subscription_id }).sort({ occurred_at: 1 }).toArray();
  const namesOf = async (id: string): Promise<string[]> => (await stored(id)).map(({ name }) => name);

  it("sends events, and those of a page that was offline when it was closed, from the next page", async () => {
    const page = await service().openFresh();
    const id = await idOf(page);
    await page.evaluate(`app.track("cart.filled", { properties: { items: 2 }, value: 19.9 })`);
    await until(async () => (await stored(id)).length === 1);
    const [{ properties, value, source } = {}] = await stored(id);
    expect({ properties: JSON.parse(properties ?? ""), value, source }).to.deep.equal({
      properties: { items: 2 },
      value: 19.9,
      source: "sdk",
    });
    await page.setOfflineMode(true);
    await page.evaluate(`app.track("offer.seen")`);
    await page.evaluate(`app.track("offer.liked")`);
    expect(await page.evaluate("app.flush().catch(({ name }) => name)")).to.equal("TypeError");
    await page.close();
    const next = await service().site.open("/app");
    await until(async () => (await stored(id)).length === 3);
    expect(await namesOf(id)).to.deep.equal(["cart.filled", "offer.seen", "offer.liked"]);
    await next.close();
    service().site.complaints.length = 0; // the browser's own lines about the network
  });

  it("tells of an event once when the answer is lost, and of the others when one is refused", async () => {
    const page = await service().openFresh();
    const id = await idOf(page);
    await page.evaluate(`(() => {
      const real = fetch;
      fetch = async (...asked) => {
        await real(...asked);
        fetch = real;
        throw new TypeError("the answer is lost");
      };
    })()`);
    await page.evaluate(`app.track("first")`);
    expect(await page.evaluate("app.flush().catch(({ message }) => message)")).to.equal("the answer is lost");
    await page.evaluate(`Promise.all(["second", "hs.reserved", "third"].map((name) => app.track(name)))`);
    await page.evaluate("app.flush()");
    await until(async () => (await stored(id)).length === 3);
    expect(await namesOf(id)).to.have.members(["first", "second", "third"]);
    await page.evaluate("app.flush()"); // nothing waits, so that nothing is asked
    expect(
      await page.evaluate(`app.track("large", { properties: { text: "x".repeat(40_000) } }).catch(String)`),
    ).to.equal("RangeError: herald: more than 32768 bytes");
    await takeOut(page);
    await page.close();
    service().site.complaints.length = 0; // the browser's own lines about the refusals
  });
};
