import { randomBytes } from "node:crypto";
import { expect } from "chai";
import type { ActivityRecipientRow } from "#core/storage/live-activities/recipient-row.ts";
import type { StartTokenRow } from "#core/storage/live-activities/start-tokens.ts";
import { type SeededDevice, seedDevice } from "../../../support/api/devices.ts";
import { answered } from "../../../support/api/reply.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";

describe("tokens of live activities that devices report themselves", () => {
  const { site, tenant } = useSharedSite();
  const aToken = () => randomBytes(32).toString("hex");
  const call = (method: string, path: string, { headers }: SeededDevice, body: object = {}) =>
    answered(site.api.call, method, `/sdk/v1/live-activities/${path}`, { headers, body });
  const ofApp = (method: string, path: string, body: object) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/live-activities${path}`, { token: tenant.token, body });
  const starts = ({ subscription: { _id } }: SeededDevice) =>
    site.db.collection<StartTokenRow>("live_activity_start_tokens").find({ subscription_id: _id }).toArray();
  const updates = ({ subscription: { _id } }: SeededDevice) =>
    site.db.collection<ActivityRecipientRow>("live_activity_recipients").findOne({ subscription_id: _id });

  before(async () => {
    for (const name of ["Match", "Other"])
      await ofApp("POST", "/types", { name, content_state_schema: { type: "object", properties: {} } });
    const start = { activity_id: "m-1", content_state: {}, target: { all: true } };
    const { status, text } = await ofApp("POST", "/Match/start", start);
    expect(status, text).to.equal(202);
  });

  it("start activities of a type, until they are replaced or forgotten", async () => {
    const device = await seedDevice(site, tenant);
    const [first, second] = [aToken(), aToken()];
    expect((await call("PUT", "Match/push-to-start-token", device, { token: first })).body).to.deep.equal({ ok: true });
    const environment = tenant.app.channels.ios_push?.environment;
    await call("PUT", "Match/push-to-start-token", device, { token: second.toUpperCase(), environment });
    expect((await starts(device)).map(({ token }) => token)).to.deep.equal([second]);
    expect((await call("DELETE", "Match/push-to-start-token", device)).status).to.equal(200);
    expect((await call("DELETE", "Match/push-to-start-token", device)).status, "again").to.equal(200);
    expect(await starts(device)).to.deep.equal([]);
  });

  it("carry updates of an activity, until it is over on the device", async () => {
    const device = await seedDevice(site, tenant);
    const path = "activities/m-1/token";
    const token = aToken();
    for (const state of ["active", "stale"] as const)
      expect((await call("PUT", path, device, { token, activity_type: "Match", state })).status).to.equal(200);
    expect(await updates(device)).to.include({ token, state: "active" });
    expect((await call("PUT", path, device, { token, state: "dismissed" })).status).to.equal(200);
    expect(await updates(device)).to.include({ token: null, state: "lost" });
    const other = await seedDevice(site, tenant);
    await call("PUT", path, other, { token: aToken() });
    expect((await call("DELETE", path, other)).status).to.equal(200);
    expect(await updates(other)).to.include({ token: null, state: "lost" });
  });

  it("are refused of other devices, types, environments and forms", async () => {
    const device = await seedDevice(site, tenant);
    const token = aToken();
    const start = "Match/push-to-start-token";
    const browser = await seedDevice(site, tenant, { channel: "android_push", token: `fcm-${aToken()}` });
    const field = async (path: string, body: object, of = device) => {
      const { status, body: reply } = await call("PUT", path, of, body);
      return [status, reply.error?.details?.["field"]];
    };
    expect(await field(start, { token }, browser)).to.deep.equal([400, "token"]);
    expect(await field(start, { token: "zz" })).to.deep.equal([400, "token"]);
    const account = tenant.app.channels.ios_push?.environment;
    const environment = account === "sandbox" ? "production" : "sandbox";
    expect(await field(start, { token, environment })).to.deep.equal([400, "environment"]);
    expect((await call("PUT", "Nothing/push-to-start-token", device, { token })).status).to.equal(404);
    expect((await call("PUT", "activities/unknown/token", device, { token })).status).to.equal(404);
    const other = { token, activity_type: "Other" };
    expect((await call("PUT", "activities/m-1/token", device, other)).status).to.equal(404);
    const foreign = { token, subscription_id: browser.subscription._id };
    expect((await call("PUT", start, device, foreign)).status).to.equal(404);
    expect(await starts(device)).to.deep.equal([]);
    expect(await updates(device)).to.equal(null);
  });
});
