import { type KeyObject } from "node:crypto";
import { expect } from "chai";
import { SignJWT } from "jose";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { until } from "../../support/until.ts";
import { type Service, takeOut } from "./service.ts";

/** A token that the app's server gives a person's browser. */
const tokenFor = (key: KeyObject, appId: string, externalId: string, endsInSeconds: number): Promise<string> =>
  new SignJWT({ identity: { external_id: externalId } })
    .setProtectedHeader({ alg: "ES256" })
    .setIssuer(appId)
    .setExpirationTime(Math.floor(Date.now() / 1_000) + endsInSeconds)
    .sign(key);

/** What a browser does about whose it is. */
export const personCases = (service: () => Service): void => {
  it("logs a person in with a token that it asks for anew when the service does not take the one it had, and out", async () => {
    const { system, site, identityKey, openFresh } = service();
    const token = (externalId: string, endsInSeconds: number) =>
      tokenFor(identityKey, system.app._id, externalId, endsInSeconds);
    const page = await openFresh();
    await page.evaluate("app.subscription()");
    const before = (await page.evaluate("app.who()")) as { subscriptionId: string; userId: string };
    const personOf = async () => {
      const rows = system.db.collection<SubscriptionRow>("subscriptions");
      const row = await rows.findOne({ _id: before.subscriptionId });
      return { userId: row?.user_id, externalId: row?.external_id ?? null };
    };
    const tokens = { kept: await token("lena", -3_600), fresh: await token("lena", 600) };
    await page.evaluate(`tokens = ${JSON.stringify(tokens)}`);
    await page.evaluate(`app.login("lena")`);
    const lena = await personOf();
    expect(lena).to.deep.equal({ userId: before.userId, externalId: "lena" });
    expect(await page.evaluate("app.who()")).to.deep.equal({ subscriptionId: before.subscriptionId, ...lena });
    expect(await page.evaluate("app.inbox.page()")).to.include({ unread_count: 0 });

    await page.evaluate(`tokens = ${JSON.stringify({ kept: await token("mia", 600) })}`);
    const reason = await page.evaluate(`app.inbox.page().catch(({ details }) => details.reason)`);
    expect(reason).to.equal("identity_mismatch");
    await page.evaluate(`tokens = ${JSON.stringify({ kept: await token("lena", 600) })}`);
    await page.evaluate("app.logout()");
    await page.evaluate("tokens = null");
    const nobody = await personOf();
    expect(nobody.externalId).to.equal(null);
    expect(nobody.userId).not.to.equal(lena.userId);
    expect(await page.evaluate("app.who()")).to.deep.equal({ subscriptionId: before.subscriptionId, ...nobody });
    await takeOut(page);
    await page.close();
    site.complaints.length = 0; // the browser's own lines about what was refused
  });

  it("says what a person is like and wants, and counts how long they are there", async () => {
    const { system, site, identityKey, openFresh } = service();
    const page = await openFresh();
    await page.evaluate("app.subscription()");
    await page.evaluate(`app.user.change({ tags: { plan: "gold" }, language: "de" })`);
    const kept = await tokenFor(identityKey, system.app._id, "noor", 600);
    await page.evaluate(`tokens = ${JSON.stringify({ kept })}`);
    expect(await page.evaluate(`app.login("noor", { crm: "N-1" })`)).to.deep.equal([]);
    await page.evaluate(`app.user.alias("shop", "S-1")`);
    await page.evaluate(`app.user.alias("crm", null)`);
    const wanted = await page.evaluate(`app.user.prefer({ categories: { promo: { web_push: false } } })`);
    expect(wanted).to.have.nested.property("categories.promo.web_push", false);
    expect(await page.evaluate("app.user.preferences()")).to.deep.equal(wanted);
    await page.evaluate(leaveAfterTwoMinutes(system.app._id));
    const users = system.db.collection<UserRow>("users");
    await until(async () => (await users.findOne({ external_id: "noor" }))?.session_count === 1);
    const user = await users.findOne({ external_id: "noor" });
    expect(user).to.deep.include({ tags: { plan: "gold" }, language: "de", aliases: { shop: "S-1" } });
    expect(user?.session_time).to.be.within(120, 180);
    await takeOut(page);
    await page.close();
    site.complaints.length = 0; // the browser's own lines about what was refused
  });
};

/** As if the page had been seen for two minutes, and was left now. */
const leaveAfterTwoMinutes = (appId: string): string => `{
  const now = Date.now();
  const session = { began: now - 120_000, seen: now - 5_000, told: now - 120_000, toldAt: 0 };
  localStorage.setItem("herald-session-${appId}", JSON.stringify(session));
  Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
  document.dispatchEvent(new Event("visibilitychange"));
}`;
