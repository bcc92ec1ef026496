import { expect } from "chai";
import { storedData } from "#core/storage/data.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

let count = 0;
const aMail = () => `out${count++}@example.com`;

describe("an opt-out that is said by the status of a subscription", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}${path}`, { token: tenant.token, ...(body && { body }) });
  const rows = () => collectionOf<SuppressionRow>(site.db, suppressionCollection);
  const register = async (token: string, more: object = {}) => {
    const subscriptions = [{ channel: token.includes("@") ? "email" : "ios_push", token, ...more }];
    const { body } = await call("POST", "/users", { external_id: `of ${token}`, subscriptions });
    return { userId: body.id, id: String(body.subscriptions[0]?.["id"]) };
  };
  const patch = async (id: string, status: string) => {
    expect((await call("PATCH", `/subscriptions/${id}`, { status })).body["status"]).to.equal(status);
  };
  const entryOf = async (address: string) =>
    (await call("GET", `/suppressions?address=${encodeURIComponent(address)}`)).body.data[0] ?? null;
  const estimateFor = async (token: string) => {
    const target = { include_external_ids: [`of ${token}`], channels: ["email"] };
    const body = { app_id: tenant.app._id, target };
    return (await site.api.call("POST", "/v1/notifications/estimate", { token: tenant.token, body })).body[
      "recipients"
    ];
  };

  it("is kept for the address when its user is deleted and the address is registered again", async () => {
    const address = aMail();
    const { id, userId } = await register(address);
    await patch(id, "unsubscribed");
    expect((await call("DELETE", `/users/by/user_id/${userId}`)).status).to.equal(200);
    const of = { tenantId: tenant.tenant._id, appId: tenant.app._id };
    const gone = { ...of, userId, keys: new Set([`email:${address}`]), at: new Date(), isLast: false, isErased: false };
    await storedData(site.db, [suppressionCollection]).erasePerson(gone);
    await register(address);
    expect(await entryOf(address)).to.include({
      reason: "unsubscribe",
      source: "api",
      channel: "email",
      address: null,
    });
    expect(await estimateFor(address)).to.equal(0);
  });

  it("is kept when it comes with the registration", async () => {
    const address = aMail();
    await register(address, { status: "unsubscribed" });
    expect(await entryOf(address)).to.include({ reason: "unsubscribe", source: "api" });
  });

  it("is one of the address that an unsubscribed subscription gets, too, and of none that a subscribed one gets", async () => {
    const [former, address, other] = [aMail(), aMail(), aMail()];
    const [{ id }, subscribed] = [await register(former, { status: "unsubscribed" }), await register(aMail())];
    expect((await call("PATCH", `/subscriptions/${id}`, { token: address })).body["status"]).to.equal("unsubscribed");
    expect(await entryOf(address)).to.include({ reason: "unsubscribe", source: "api" });
    expect((await call("PATCH", `/subscriptions/${subscribed.id}`, { token: other })).status).to.equal(200);
    expect(await entryOf(other)).to.equal(null);
  });

  it("is taken back by the status, and with it nothing else", async () => {
    const [address, both] = [aMail(), aMail()];
    const [plain, suppressed] = [await register(address), await register(both)];
    await call("POST", "/suppressions", { channel: "email", address: both, categories: ["news"], note: "by phone" });
    for (const { id } of [plain, suppressed]) await patch(id, "unsubscribed");
    expect(await entryOf(both)).to.include({ reason: "unsubscribe", categories: null });
    for (const { id } of [plain, suppressed]) await patch(id, "subscribed");
    expect(await entryOf(address)).to.equal(null);
    expect(await estimateFor(address)).to.equal(1);
    const left = { reason: "manual", source: "api", categories: ["news"], note: "by phone" };
    expect(await entryOf(both)).to.deep.include(left);
  });

  it("leaves what the person said themselves, before it and after it", async () => {
    for (const isBefore of [true, false]) {
      const address = aMail();
      const { id } = await register(address);
      if (!isBefore) await patch(id, "unsubscribed");
      await call("POST", "/suppressions", { channel: "email", address, reason: "complaint" });
      if (isBefore) await patch(id, "unsubscribed");
      await register(address, { status: "subscribed" });
      expect(await entryOf(address), String(isBefore)).to.include({ reason: "complaint" });
    }
  });

  it("makes no entry of a device", async () => {
    const { id } = await register("ab".repeat(32));
    const before = await rows().countDocuments({ app_id: tenant.app._id });
    await patch(id, "unsubscribed");
    expect(await rows().countDocuments({ app_id: tenant.app._id })).to.equal(before);
  });
});
