import { expect } from "chai";
import { type AppSettings, settingNames } from "#core/schema/apps/settings.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { announcedMs, until } from "../../../support/until.ts";

describe("the settings of an app", () => {
  const { site, tenant } = useSharedSite();

  const call = (method: string, body?: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/settings`, { token: tenant.token, body });
  const apps = () => site.db.collection<AppRow>("apps");
  const row = async () => (await apps().findOne({ _id: tenant.app._id }))!;
  const shown = async () => JSON.parse((await call("GET")).text) as AppSettings;

  it("have their defaults until they are set", async () => {
    const settings = await shown();
    expect(Object.keys(settings)).to.deep.equal(settingNames);
    expect(settings.outcomes).to.deep.equal({ direct_minutes: 1440, influenced_minutes: 1440, influenced_limit: 10 });
  });

  it("keep what they are set to, of an object as a whole, and go back to the default with null", async () => {
    const { status, text } = await call("PATCH", { time_zone: "Asia/Tokyo", outcomes: { direct_minutes: 60 } });
    expect(status).to.equal(200);
    expect(JSON.parse(text)).to.deep.include({
      time_zone: "Asia/Tokyo",
      outcomes: { direct_minutes: 60, influenced_minutes: 1440, influenced_limit: 10 },
    });
    await call("PATCH", { outcomes: { influenced_limit: 3 } });
    expect(await shown()).to.deep.include({
      time_zone: "Asia/Tokyo",
      outcomes: { direct_minutes: 1440, influenced_minutes: 1440, influenced_limit: 3 },
    });
    await call("PATCH", { time_zone: null, outcomes: null });
    expect(await shown()).to.deep.include({ time_zone: "UTC" });
  });

  const wrong: { it: string; body: object; field: string }[] = [
    { it: "a zone that there is not", body: { time_zone: "Europe/Atlantis" }, field: "time_zone" },
    { it: "a value out of bounds", body: { outcomes: { direct_minutes: 1441 } }, field: "outcomes.direct_minutes" },
    { it: "a setting that has no effect in this release", body: { in_app_enabled: true }, field: "in_app_enabled" },
    { it: "a member of an object that there is not", body: { outcomes: { minutes: 5 } }, field: "outcomes.minutes" },
  ];
  for (const { it: what, body, field } of wrong) {
    it(`refuse ${what} by name, and change nothing`, async () => {
      const before = await row();
      const reply = await call("PATCH", { idempotency_mismatch: "reject", ...body });
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
      expect(await row()).to.deep.equal(before);
    });
  }

  it("of two replicas that change them at once both changes are there", async function () {
    const other = await site.replica();
    const path = `/v1/apps/${tenant.app._id}/settings`;
    const patch = (api: typeof other, body: object) => api.call("PATCH", path, { token: tenant.token, body });
    for (const zone of ["Europe/Rome", "Europe/Paris", "Europe/Oslo"]) {
      const both = await Promise.all([
        patch(site.api, { time_zone: zone }),
        patch(other, { outcomes: { influenced_limit: 1 + (zone.length % 5) } }),
      ]);
      expect(both.map(({ status }) => status)).to.deep.equal([200, 200]);
      const { time_zone, outcomes } = await shown();
      expect([time_zone, outcomes.influenced_limit]).to.deep.equal([zone, 1 + (zone.length % 5)]);
    }
    await call("PATCH", { idempotency_mismatch: "reject" });
    const heard = async () => {
      const send = (name: string) =>
        other.call("POST", `/v1/apps/${tenant.app._id}/exports`, {
          token: tenant.token,
          headers: { "Idempotency-Key": "settings-1" },
          body: { type: name },
        });
      return [(await send("users")).status, (await send("subscriptions")).status];
    };
    await until(async () => (await heard())[1] === 422, announcedMs); // the other replica has heard of it
    await call("PATCH", { idempotency_mismatch: null });
  });

  it("have each notification redacted where redact_payloads says so, whatever it says itself", async () => {
    const send = async (more: object) => {
      const body = { app_id: tenant.app._id, target: { all: true }, contents: { en: "a secret" }, ...more };
      return site.api.call("POST", "/v1/notifications", { token: tenant.token, body });
    };
    expect((await call("PATCH", { redact_payloads: true })).status).to.equal(200);
    const { body } = await send({ redact_payload: false });
    const variants = ["a", "b"].map((name) => ({ name, weight_percent: 50, contents: { en: name } }));
    const refused = await send({ variants });
    await call("PATCH", { redact_payloads: null });
    const stored = await site.db.collection<MessageRow>("messages").findOne({ _id: body["id"] });
    expect(stored?.options).to.deep.equal({ redact_payload: true });
    const path = `/v1/notifications/${body["id"]}`;
    expect((await site.api.call("GET", path, { token: tenant.token })).body["content"]).to.deep.equal({});
    expect([refused.status, refused.body.error.details["field"]]).to.deep.equal([400, "variants"]);
  });

  it("that a resource names are the resource's, and the others REST's", async () => {
    const managed = {
      kind: "App",
      namespace: "shop",
      name: "shop",
      uid: "u-1",
      policy: "Enforce" as const,
      deletion: "Delete" as const,
      epoch: 1,
      members: ["name", "time_zone"],
    };
    await apps().updateOne({ _id: tenant.app._id }, { $set: { managed, updated_at: new Date() } });
    const refused = await call("PATCH", { outcomes: { influenced_limit: 2 }, time_zone: "Asia/Tokyo" });
    expect([refused.status, refused.body.error.code]).to.deep.equal([409, "HS_MANAGED"]);
    expect(refused.body.error.details).to.deep.equal({
      kind: "App",
      namespace: "shop",
      name: "shop",
      member: "time_zone",
    });
    expect((await call("PATCH", { outcomes: { influenced_limit: 2 } })).status).to.equal(200);
    expect((await row()).managed).to.deep.equal(managed);
    await apps().updateOne({ _id: tenant.app._id }, { $set: { managed: null } });
  });
});
