import { type KeyObject } from "node:crypto";
import { expect } from "chai";
import { SignJWT } from "jose";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Service } from "./service.ts";

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
    await page.evaluate("app.remove()");
    await page.close();
    site.complaints.length = 0; // the browser's own lines about what was refused
  });
};
