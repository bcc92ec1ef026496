import { expect } from "chai";
import type { Page } from "puppeteer-core";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { startShop } from "../../../dev/simulators/shop.ts";
import { send } from "../../support/system/sending.ts";
import { until } from "../../support/until.ts";
import { blankPage } from "../pages/browser.ts";
import { pushService, type Service, takeOut } from "./service.ts";
import { clickShown, pushesTo, type Shows, showsOf, watchShows, workerOf } from "./site.ts";

/** What a browser does about pushes. */
export const pushCases = (service: () => Service): void => {
  let system: Service["system"];
  let api: Service["api"];
  let push: Service["push"];
  let site: Service["site"];
  before(() => {
    ({ system, api, push, site } = service());
  });
  const delivery = () => system.db.collection<DeliveryRow>("deliveries");

  /** A tab whose worker is there, with nothing shown. */
  const openTab = async () => {
    const page = await site.open();
    await page.evaluate(`(async () => {
      const one = await navigator.serviceWorker.register("/herald-worker.js", { scope: "/herald/" });
      while (one.active?.state !== "activated") await new Promise((resolve) => setTimeout(resolve, 10));
      for (const shown of await one.getNotifications()) shown.close();
    })()`);
    return { page, ...(await watched(page)) };
  };

  /** Delivers to the worker of a page, and gives all that it shows because of that. */
  const watched = async (page: Page, whose = "herald") => {
    const hand = await pushesTo(page, `${site.origin}/${whose}/`);
    const worker = await workerOf(site.browser, `${site.origin}/${whose}-worker.js`);
    const deliver = async (data: string): Promise<Shows> => {
      await watchShows(worker);
      await hand(data);
      let shows: Shows | null = null;
      await until(async () => (shows = await showsOf(worker)) !== null);
      return shows ?? [];
    };
    return { worker, deliver };
  };

  /** What the push service was sent of a message, as its browser decrypts it. */
  const payloadOf = async (message: string): Promise<string> => {
    await system.ended(message, 60_000);
    return String(push.log.page().find(({ body }) => body.includes(message))?.body);
  };

  const rows = () => system.db.collection<SubscriptionRow>("subscriptions").find({ app_id: system.app._id }).toArray();
  const who = "app.who()";

  it("registers itself at a person's click, is one install in all tabs, and takes itself out", async () => {
    const before = (await rows()).length;
    const [first, second] = [await site.open("/app"), await site.open("/app")];
    await Promise.all([first, second].map((page) => page.evaluate("app.subscription()")));
    const [install] = (await rows()).slice(before);
    expect(await rows()).to.have.length(before + 1);
    const own = { subscriptionId: install?._id, userId: install?.user_id, externalId: null };
    expect(await second.evaluate(who)).to.deep.equal(own);
    const given = push.subscribe();
    await first.evaluate(pushService(given));
    await first.bringToFront();
    await first.click("button");
    await first.waitForSelector('[data-done="true"]');
    expect(await first.evaluate("app.subscription()")).to.include({ status: "subscribed", has_token: true });
    expect((await rows()).slice(before)).to.have.length(1);
    expect((await rows()).at(-1)).to.deep.include({ _id: install?._id, token: given.endpoint, web: given.keys });

    const message = await send(system, api, {
      target: { include_subscription_ids: [install?._id] },
      headings: { en: "You" },
      url: `${site.origin}/offer`,
    });
    const { worker, deliver } = await watched(first);
    expect(await deliver(await payloadOf(message))).to.deep.equal([{ title: "You", body: "Hello" }]);
    const statusOf = async () => (await delivery().findOne({ message_id: message }))?.status;
    await until(async () => (await statusOf()) === "delivered", 30_000); // as the worker tells
    await first.goto((await clickShown(worker)) ?? "");
    await until(async () => (await statusOf()) === "clicked");

    await second.evaluate("app.optOut()");
    expect(await second.evaluate("app.subscription()")).to.include({ status: "unsubscribed" });
    await takeOut(second);
    expect(await second.evaluate(who)).to.deep.equal({ subscriptionId: null, userId: null, externalId: null });
    expect(site.complaints).to.deep.equal([]);
    await Promise.all([first, second].map((page) => page.close()));
  });

  it("is registered by the page that make demo names, which has it sent a push, and shows its inbox", async () => {
    const shop = await startShop(0);
    const account = { url: api.url, token: system.token, appId: system.app._id };
    await fetch(`${shop.url}/account`, { method: "POST", body: JSON.stringify(account) });
    await site.browser.defaultBrowserContext().overridePermissions(shop.url, ["notifications"]);
    const page = await blankPage(site.browser);
    await page.goto(shop.url);
    await page.evaluate(pushService(push.subscribe()));
    await page.click("#ask");
    await page.waitForSelector("#send:not([disabled])");
    await page.click("#send");
    await page.waitForFunction("document.querySelector('#state').textContent.startsWith('The service answered 202')");
    await page.waitForSelector("herald-inbox >>> [part=badge]:not([hidden])");
    await page.click("herald-inbox >>> [part=button]");
    await page.waitForSelector("herald-inbox >>> [part~=item]");
    expect(await page.$eval("herald-inbox >>> [part=title]", ({ textContent }) => textContent)).to.equal("Your parcel");
    await page.close();
    await shop.stop();
  });

  it("is registered anew when the service does not know its secret any more", async () => {
    const page = await site.open("/app");
    await page.evaluate("app.subscription()");
    const { subscriptionId } = (await page.evaluate(who)) as { subscriptionId: string };
    await system.db.collection<SubscriptionRow>("subscriptions").deleteOne({ _id: subscriptionId });
    expect(await page.evaluate("app.subscription()")).to.include({ has_token: false });
    const now = (await page.evaluate(who)) as { subscriptionId: string };
    expect(now.subscriptionId).not.to.equal(subscriptionId);
    await takeOut(page);
    site.complaints.length = 0; // the browser's own line about the 401
    await page.close();
  });

  it("shows a push that was sent to it, and its click is an event of the delivery", async () => {
    const tab = await openTab();
    const { endpoint, keys } = push.subscribe();
    const person = { external_id: "anna", subscriptions: [{ channel: "web_push", token: endpoint, web: keys }] };
    const registered = await service().ask("POST", "users", person);
    expect(registered.status).to.equal(201);
    const message = await send(system, api, {
      target: { include_external_ids: ["anna"] },
      headings: { en: "Offer" },
      contents: { en: "Only today" },
      url: `${site.origin}/offer`,
    });
    expect(await tab.deliver(await payloadOf(message))).to.deep.equal([{ title: "Offer", body: "Only today" }]);
    const opened = await clickShown(tab.worker);
    expect(opened).to.match(new RegExp(`^${api.url}/c/`));
    await tab.page.goto(opened ?? "");
    expect(tab.page.url()).to.equal(`${site.origin}/offer`);
    await until(async () => (await delivery().findOne({ message_id: message }))?.status === "clicked");
    await tab.page.close();
  });

  it("works in a worker that the site has already, and leaves what is not Herald's to that", async () => {
    const page = await site.open();
    await page.evaluate(`(async () => {
      const one = await navigator.serviceWorker.register("/own-worker.js", { scope: "/own/", type: "module" });
      while (one.active?.state !== "activated") await new Promise((resolve) => setTimeout(resolve, 10));
    })()`);
    const { deliver } = await watched(page, "own");
    expect(await deliver('{"delivery_id":"dlv_1","title":"Offer"}')).to.deep.equal([{ title: "Offer" }]);
    expect(await deliver('{"title":"Offer"}')).to.deep.equal([{ title: "Own: Offer" }]);
    await page.close();
  });

  for (const { what, data, shows } of [
    { what: "is no JSON", data: "not JSON", shows: 1 },
    { what: "is empty", data: "", shows: 1 },
    { what: "is another's", data: '{"title":null}', shows: 1 },
    // the first call is refused and shows nothing
    { what: "has what a browser does not take", data: '{"title":"T","actions":[7],"delivery_id":"d"}', shows: 2 },
  ])
    it(`shows exactly one notification for a push that ${what}`, async () => {
      const tab = await openTab();
      expect(await tab.deliver(data)).to.have.length(shows);
      await tab.page.close();
    });
};
