import { expect } from "chai";
import { type Api, startApi } from "../../../support/api/api.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { manifests, textOf } from "../support/manifests.ts";

const secondMs = 1_000;

// Runs alone (dev/suite/neighbours.ts): it judges how long something takes.
describe("operator: within a second", () => {
  let herald: Installation;
  let api: Api;
  let make: ReturnType<typeof manifests>;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    await herald.start();
    api = await startApi(
      herald.servers,
      { name: herald.id, database: herald.db.databaseName },
      { HERALD_KEY_RING: herald.settings.keyRing },
    );
    await herald.apply(make.iosSecret());
    for (const object of [make.plan(), make.tenant(), make.app()]) {
      await herald.apply(object);
      await herald.ready(object);
    }
  });
  after(async () => {
    await api?.process.kill();
    await herald?.close();
  });

  const tokenOf = async (key: Manifest): Promise<string> =>
    textOf(await herald.get(make.secret(`${key.metadata.name}-connection`, {})), "token");
  const aKey = async (name: string): Promise<{ key: Manifest; token: string }> => {
    const key = make.apiKey({}, name);
    await herald.apply(key);
    await herald.ready(key);
    return { key, token: await tokenOf(key) };
  };
  const answer = async (token: string): Promise<number> => {
    const { status } = await herald.ready(make.app());
    return (await api.call("GET", `/v1/apps/${status?.id}/live-activities/types`, { token })).status;
  };
  const becomes = (token: string, status: number): Promise<void> =>
    until(async () => (await answer(token)) === status, secondMs);

  it("a tenant's suspension in git is felt by REST, and its end", async () => {
    const { token } = await aKey("suspended");
    expect(await answer(token)).to.equal(200);
    await herald.patch(make.tenant(), { spec: { suspended: true } });
    await becomes(token, 403);
    await herald.patch(make.tenant(), { spec: { suspended: false } });
    await becomes(token, 200);
  });

  it("a raised plan is felt by REST, its rate and its features, and another plan of the tenant", async () => {
    const { token } = await aKey("raised");
    const { status } = await herald.ready(make.app());
    const app = `/v1/apps/${status?.id}`;
    const rate = async () => Number((await api.call("GET", app, { token })).headers.get("X-RateLimit-Limit"));
    const cap = { frequency_caps: [{ name: "daily", max: 1, per: "day" }] };
    const change = async () => (await api.call("PATCH", `${app}/settings`, { token, body: cap })).status;
    expect([await rate(), await change()]).to.deep.equal([1_000, 403]);
    await herald.patch(make.plan(), { spec: { apiRps: 55, features: ["live_activities", "frequency_caps"] } });
    await until(async () => (await rate()) === 55, secondMs);
    expect(await change()).to.equal(200);
    const larger = make.plan({ apiRps: 66 }, `${herald.id}-larger`);
    await herald.apply(larger);
    await herald.ready(larger);
    await herald.patch(make.tenant(), { spec: { plan: larger.metadata.name } });
    await until(async () => (await rate()) === 66, secondMs);
  });

  it("a message that waits with a segment and a template shows in their statuses within two", async () => {
    const { token } = await aKey("waiting");
    const { status } = await herald.ready(make.app());
    const [segment, template] = [make.segment(), make.template()];
    for (const one of [segment, template]) await herald.apply(one);
    const [segmentId, template_id] = [
      (await herald.ready(segment)).status?.id,
      (await herald.ready(template)).status?.id,
    ];
    const send_after = new Date(Date.now() + 3_600_000).toISOString();
    const body = { app_id: status?.id, target: { included_segments: [segmentId] }, template_id, send_after };
    const { body: accepted, text } = await api.call("POST", "/v1/notifications", { token, body });
    expect(accepted.id, text).to.be.a("string");
    for (const one of [segment, template])
      await until(async () => (await herald.get(one))?.status?.["usedBy"] !== undefined, 2 * secondMs);
    expect((await herald.get(segment))?.status?.["usedBy"]).to.deep.equal([{ type: "message", id: accepted.id }]);
  });

  it("a token is refused once another is in the Secret that had been deleted", async () => {
    const { key, token } = await aKey("deleted-secret");
    expect(await answer(token)).to.equal(200);
    await herald.remove(make.secret(`${key.metadata.name}-connection`, {}));
    await until(async () => ![token, ""].includes(await tokenOf(key)), 3 * secondMs);
    await becomes(token, 401);
    expect(await answer(await tokenOf(key))).to.equal(200);
  });

  it("the token of a deleted key is refused", async () => {
    const { key, token } = await aKey("deleted-key");
    expect(await answer(token)).to.equal(200);
    await herald.remove(key);
    await herald.gone(key);
    await becomes(token, 401);
  });
});
