import { expect } from "chai";
import { openAccount } from "#core/channels/accounts.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type AccountCheckRow, accountCheckCollection } from "#core/storage/apps/account-checks.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { plainMail, testKeyRing } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";
import { apnsKey } from "../../operator/support/manifests.ts";

const privateKey = Buffer.alloc(32, 9).toString("base64url");
const web = { settings: { subject: "mailto:push@example.com" }, secrets: { private_key: privateKey } };
const sid = (letters: string): string => letters + "a".repeat(32);

describe("accounts of channels set up over REST", () => {
  const { site, tenant } = useSharedSite();
  const call = (method: string, channel: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/channels/${channel}`, { token: tenant.token, body });
  const app = async () => (await site.db.collection<AppRow>("apps").findOne({ _id: tenant.app._id }))!;
  const check = (channel: string) =>
    collectionOf<AccountCheckRow>(site.db, accountCheckCollection).findOne({ _id: `${tenant.app._id}/${channel}` });

  it("are sealed, tested and never shown again", async () => {
    const { status, text, body } = await call("PUT", "web_push", web);
    expect([status, body["provider"]]).to.deep.equal([200, "web_push"]);
    expect(JSON.stringify([text, (await call("GET", "web_push")).text, await app()])).not.to.include(privateKey);
    const account = openAccount(await app(), "web_push", keyRing(testKeyRing).open);
    expect(account).to.include({ subject: web.settings.subject, private_key: privateKey });
    expect(await check("web_push")).to.include({ revision: (await app()).channels_revision });
  });

  it("are not written again when they are the same, and keep those of other channels", async () => {
    const before = await app();
    expect((await call("PUT", "web_push", web)).status).to.equal(200);
    expect(await app()).to.deep.equal(before);
    expect(before.channels.ios_push).to.deep.equal(tenant.app.channels.ios_push);
  });

  it("take the defaults of what is left out, and null for what need not be there", async () => {
    const settings = { host: "mail.example.com", from_address: "a@example.com", username: null };
    const { status, body } = await call("PUT", "email", { settings });
    const shown = { ...plainMail, ...settings, port: 587, security: "starttls" };
    expect([status, body["settings"]]).to.deep.equal([200, shown]);
  });

  const whatsapp = {
    provider: "twilio",
    settings: { twilio: { account_sid: sid("AC"), sender: "+15005550026" } },
    secrets: { auth_token: "auth" },
  };

  it("of WhatsApp are Meta's or Twilio's, and have the secrets of that one alone", async () => {
    const { status, body, text } = await call("PUT", "whatsapp", whatsapp);
    expect([status, body["provider"]], text).to.deep.equal([200, "twilio"]);
    const stored = (await app())?.channels.whatsapp;
    expect(stored).to.include({
      phone_number_id: null,
      api_version: null,
      access_token: null,
      messages_per_second: 80,
    });
    expect(stored?.twilio).to.include({ sender: "+15005550026" }).and.not.include({ auth_token: "auth" });
  });

  const twilio = { account_sid: sid("AC"), messaging_service_sid: sid("MG") };
  for (const { it: what, channel, body, field } of [
    {
      it: "a setting of another channel",
      channel: "web_push",
      body: { ...web, settings: { host: "x" } },
      field: "settings.host",
    },
    {
      it: "a setting that must be there",
      channel: "web_push",
      body: { ...web, settings: {} },
      field: "settings.subject",
    },
    {
      it: "a secret that is missing",
      channel: "web_push",
      body: { settings: web.settings },
      field: "secrets.private_key",
    },
    {
      it: "a secret that is no key",
      channel: "web_push",
      body: { ...web, secrets: { private_key: "short" } },
      field: "secrets.private_key",
    },
    {
      it: "a secret that nothing needs",
      channel: "web_push",
      body: { ...web, secrets: { ...web.secrets, password: "x" } },
      field: "secrets.password",
    },
    {
      it: "a secret among the settings",
      channel: "web_push",
      body: { ...web, settings: { ...web.settings, private_key: "x" } },
      field: "settings.private_key",
    },
    { it: "a provider of another channel", channel: "web_push", body: { ...web, provider: "fcm" }, field: "provider" },
    {
      it: "a provider without its settings",
      channel: "sms",
      body: { provider: "vonage", settings: { twilio } },
      field: "settings.twilio",
    },
    {
      it: "a number of Meta's for WhatsApp over Twilio",
      channel: "whatsapp",
      body: { ...whatsapp, settings: { ...whatsapp.settings, phone_number_id: "106540352242922" } },
      field: "settings.phone_number_id",
    },
    {
      it: "WhatsApp without the number of its provider",
      channel: "whatsapp",
      body: { settings: {}, secrets: {} },
      field: "settings.phone_number_id",
    },
    {
      it: "no sender",
      channel: "sms",
      body: { settings: { twilio: { account_sid: sid("AC") } } },
      field: "settings.twilio.messaging_service_sid",
    },
  ])
    it(`refuse ${what}, by its name, and change nothing`, async () => {
      const before = await app();
      const { status, body: reply, text } = await call("PUT", channel, body);
      expect(status, text).to.equal(400);
      const errors = reply.error.details["errors"] as { field: string }[]; // sound: what every such error has
      expect(errors.map((one) => one.field)).to.include(field);
      expect(await app()).to.deep.equal(before);
    });

  it("are in the audit log, without a secret", async () => {
    const log = async () =>
      (await site.api.call("GET", `/v1/apps/${tenant.app._id}/audit-log`, { token: tenant.token })).text;
    await until(async () => (await log()).includes("channels.web_push"));
    expect(await log())
      .to.include("channel.updated")
      .and.not.include(privateKey);
  });

  it("are not the REST interface's where a resource names them, and are where it does not", async () => {
    const managed = { kind: "App", namespace: "a", name: "shop", uid: "u", deletion: "Delete", epoch: 1 } as const;
    const members = ["name", "channels.ios_push"];
    await site.db
      .collection<AppRow>("apps")
      .updateOne(
        { _id: tenant.app._id },
        { $set: { managed: { ...managed, policy: "Enforce", members }, updated_at: new Date() } },
      );
    const ios = { team_id: "TEAM123456", key_id: "KEY1234567", bundle_id: "dev.herald.other" };
    for (const refused of [
      await call("PUT", "ios_push", { settings: ios, secrets: { private_key: apnsKey() } }),
      await call("DELETE", "ios_push"),
    ])
      expect([refused.status, refused.body.error.details["member"]]).to.deep.equal([409, "channels.ios_push"]);
    expect((await call("DELETE", "web_push")).status).to.equal(200);
  });

  it("are gone once they are removed", async () => {
    expect((await app()).channels).not.to.have.property("web_push");
    expect((await call("GET", "web_push")).status).to.equal(404);
    expect((await call("DELETE", "web_push")).status).to.equal(404);
    expect((await call("PUT", "fax", web)).status).to.equal(404);
  });
});
