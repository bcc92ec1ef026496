import { expect } from "chai";
import type { ChannelAccount } from "#core/schema/apps/account.ts";
import { type AccountCheckRow, accountCheckCollection, type LastCheck } from "#core/storage/apps/account-checks.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApiKey, anApp, seed } from "../../../support/rows/fixtures.ts";

const at = new Date("2026-11-22T10:00:00.000Z");
const last: LastCheck = {
  result: "refused",
  reason: "APNs refused the push: InvalidProviderToken",
  provider_code: "403 InvalidProviderToken",
  revision: 1,
  times: 2,
  checked_at: at,
  since: new Date("2026-11-22T09:00:00.000Z"),
};

describe("the channels of an app", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, path = "", token = tenant.token, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/channels${path}`, { token, body });
  const rows = () => collectionOf<AccountCheckRow>(site.db, accountCheckCollection);
  const row = (channel: string) => rows().findOne({ _id: `${tenant.app._id}/${channel}` });
  const list = async () => (JSON.parse((await call("GET")).text) as { data: ChannelAccount[] }).data;

  it("are listed with what they are set up with, and without a secret", async () => {
    const { status, text } = await call("GET");
    expect(status).to.equal(200);
    const accounts = await list();
    expect(accounts.map(({ channel, provider }) => [channel, provider])).to.have.deep.members([
      ["ios_push", "apns"],
      ["android_push", "fcm"],
      ["hms_push", "hms"],
      ["web_push", "web_push"],
      ["email", "smtp"],
      ["sms", "twilio"],
      ["rcs", "twilio"],
      ["whatsapp", "meta"],
    ]);
    const [ios] = accounts;
    expect(ios?.settings).to.deep.equal({
      team_id: "TEAM123456",
      key_id: "KEY1234567",
      bundle_id: "dev.herald.test",
      environment: "production",
    });
    expect(text).not.to.match(/"(?:private_key|password)":(?!null)|"data":"/); // null: it has none
    expect(accounts.every(({ check }) => check === null)).to.equal(true);
  });

  it("are tested when somebody asks for it, one by one", async () => {
    const { status, body } = await call("POST", "/web_push/test");
    expect([status, body["channel"]]).to.deep.equal([202, "web_push"]);
    const asked = await row("web_push");
    expect(asked).to.include({ tenant_id: tenant.tenant._id, app_id: tenant.app._id, revision: 1, fence: 1 });
    expect(asked?.due_at?.getTime()).to.be.closeTo(Date.now(), 10_000);
    expect(await rows().countDocuments({ app_id: tenant.app._id })).to.equal(1);
  });

  it("are tested anew when a test is under way, whose result no longer counts", async () => {
    await call("POST", "/email/test");
    const lease = { holder: "a dispatcher", until: new Date(Date.now() + 30_000) };
    await rows().updateOne({ _id: `${tenant.app._id}/email` }, { $set: { lease }, $inc: { fence: 1 } });
    await call("POST", "/email/test");
    expect(await row("email")).to.include({ lease: null, fence: 3 });
  });

  it("show what their last test found, and whether it is of the account as it is", async () => {
    await call("POST", "/ios_push/test");
    for (const [revision, is_current] of [
      [1, true],
      [0, false],
    ] as const) {
      await rows().updateOne({ _id: `${tenant.app._id}/ios_push` }, { $set: { last: { ...last, revision } } });
      const [ios] = await list();
      expect(ios?.check).to.deep.equal({
        result: "refused",
        reason: last.reason,
        provider_code: last.provider_code,
        is_current,
        checked_at: "2026-11-22T10:00:00.000Z",
        since: "2026-11-22T09:00:00.000Z",
      });
    }
  });

  it("do not exist where the app has no account", async () => {
    const app = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [app] });
    const { token } = tenant;
    for (const channel of ["rcs", "fax", "__proto__"])
      expect((await site.api.call("POST", `/v1/apps/${app._id}/channels/${channel}/test`, { token })).status).to.equal(
        404,
      );
  });

  it("are for keys with the scope admin", async () => {
    const { row: key, token } = anApiKey({ tenant_id: tenant.tenant._id, scopes: ["notifications:write"] });
    await seed(site.db, { apiKeys: [key] });
    expect((await call("GET", "", token)).status).to.equal(403);
    expect((await call("POST", "/ios_push/test", token)).status).to.equal(403);
  });

  it("are tested ten times a minute at most, each", async () => {
    const replies = await untilLimited(() => call("POST", "/android_push/test"), tenAMinute);
    expect(new Set(replies.slice(0, -1).map(({ status }) => status))).to.deep.equal(new Set([202]));
    expect((await call("POST", "/web_push/test")).status).to.equal(202);
  });
});
