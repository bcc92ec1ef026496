import { expect } from "chai";
import webPushLibrary from "web-push";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Manifest } from "../../../apiserver/web-client/outside.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { startWebPush, type WebPushSimulator } from "../../../dev/simulators/web-push.ts";
import { testServers } from "../../support/servers/servers.ts";
import { call } from "../../support/system/calling.ts";
import { send } from "../../support/system/sending.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { type BrowsedSite, browsedSite, clickShown, pushesTo, workerOf } from "./site.ts";

type Shown = { title: string; body: string; tag: string };

describe("a browser with the client", function () {
  this.timeout(180_000);
  let system: System;
  let api: SystemProgram;
  let push: WebPushSimulator;
  let site: BrowsedSite;

  before(async () => {
    const credentials = makeCredentials();
    push = await startWebPush({ port: 0, tls: credentials.tls });
    system = await startSystem({ ...(await testServers()), apns: { url: "https://127.0.0.1:9", credentials } });
    api = await system.start("apiserver");
    await system.start("dispatcher", { HERALD_PUBLIC_URL: api.url });
    const { privateKey } = webPushLibrary.generateVAPIDKeys();
    const account = { settings: { subject: "mailto:ops@example.com" }, secrets: { private_key: privateKey } };
    const { status } = await call(api)(system, "PUT", `/v1/apps/${system.app._id}/channels/web_push`, account);
    expect(status).to.be.oneOf([200, 201]);
    site = await browsedSite(async () => {
      const { files } = (await (await fetch(`${api.url}/sdk/web/manifest.json`)).json()) as Manifest;
      const worker = await fetch(api.url + files["herald-worker.js"]?.path);
      return {
        "/": { type: "text/html", body: "<!doctype html><title>Shop</title>" },
        "/offer": { type: "text/html", body: "<!doctype html><title>Offer</title>" },
        "/herald-worker.js": { type: "text/javascript", body: await worker.text() },
      };
    });
  });
  after(async () => {
    await site?.close();
    await system?.stop();
    await push?.stop();
  });

  const shown = `navigator.serviceWorker.getRegistration("/herald/").then((one) => one.getNotifications())
    .then((all) => all.map(({ title, body, tag }) => ({ title, body, tag })))`;
  const delivery = () => system.db.collection<DeliveryRow>("deliveries");

  /** A tab whose worker is there, with nothing shown. */
  const openTab = async () => {
    const page = await site.open();
    await page.evaluate(`(async () => {
      const one = await navigator.serviceWorker.register("/herald-worker.js", { scope: "/herald/" });
      while (one.active?.state !== "activated") await new Promise((resolve) => setTimeout(resolve, 10));
      for (const shown of await one.getNotifications()) shown.close();
    })()`);
    const deliver = await pushesTo(page, `${site.origin}/herald/`);
    const worker = await workerOf(site.browser, `${site.origin}/herald-worker.js`);
    const all = () => page.evaluate(shown) as Promise<Shown[]>;
    return {
      page,
      deliver,
      worker,
      shown: async (count: number) => {
        await until(async () => (await all()).length >= count, 10_000);
        return all();
      },
    };
  };

  it("shows a push that was sent to it, and its click is an event of the delivery", async () => {
    const tab = await openTab();
    const { endpoint, keys } = push.subscribe();
    const person = { external_id: "anna", subscriptions: [{ channel: "web_push", token: endpoint, web: keys }] };
    const registered = await call(api)(system, "POST", `/v1/apps/${system.app._id}/users`, person);
    expect(registered.status).to.equal(201);
    const message = await send(system, api, {
      target: { include_external_ids: ["anna"] },
      headings: { en: "Offer" },
      contents: { en: "Only today" },
      url: `${site.origin}/offer`,
    });
    await system.ended(message, 60_000);
    const [sent] = push.log.page();
    await tab.deliver(String(sent?.body));
    expect(await tab.shown(1)).to.deep.equal([{ title: "Offer", body: "Only today", tag: "" }]);
    const opened = await clickShown(tab.worker);
    expect(opened).to.match(new RegExp(`^${api.url}/c/`));
    await tab.page.goto(opened ?? "");
    expect(tab.page.url()).to.equal(`${site.origin}/offer`);
    await until(async () => (await delivery().findOne({ message_id: message }))?.status === "clicked", 30_000);
    await tab.page.close();
  });

  for (const [what, data] of [
    ["is no JSON", "not JSON"],
    ["is empty", ""],
    ["is another's", '{"title":null}'],
    [
      "has what a browser does not take",
      '{"title":"T","actions":[{"action":1}],"delivery_id":"dlv_1","message_id":"msg_1"}',
    ],
  ])
    it(`shows exactly one notification for a push that ${what}`, async () => {
      const tab = await openTab();
      await tab.deliver(data ?? "");
      expect(await tab.shown(1)).to.have.length(1);
      await tab.page.close();
    });
});
