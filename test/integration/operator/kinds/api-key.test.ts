import { expect } from "chai";
import { type Api, startApi } from "../../../support/api/api.ts";
import { announcedMs, until } from "../../../support/until.ts";
import { keysOf } from "../support/api-keys.ts";
import { type Installation, installation, type Manifest, type Started } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

const hourMs = 3_600_000;

describe("operator: the tokens of an API key", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let started: Started;
  let api: Api;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    await herald.apply(make.namespace);
    started = await herald.start({ settings: { resyncSeconds: 1 } });
    api = await startApi(
      herald.servers,
      { name: herald.id, database: herald.db.databaseName },
      { HERALD_KEY_RING: herald.settings.keyRing },
    );
    for (const object of [make.plan(), make.tenant(), make.iosSecret(), make.app()]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(async () => {
    await api?.process.kill();
    await herald?.close();
  });

  const { rows, secretOf, tokenOf, statusOf, answer, aKey, age } = keysOf(() => ({ herald, make, api }));
  const reasonFor = async (token: string): Promise<unknown> =>
    (await api.call("GET", "/v1/notifications", { token })).body.error.details["reason"];
  const isNew = (key: Manifest, than: string) => async () => ![than, ""].includes(await tokenOf(key));
  const passes = async (): Promise<number> =>
    (await started.metrics.reconciles.get()).values.reduce((sum, { value }) => sum + value, 0);

  it("are replaced when their time has come; the one before works for the overlap", async () => {
    const { key, token, id } = await aKey({ rotation: { everyHours: 2, overlapHours: 1 } });
    const before = await statusOf(key);
    const due = Date.parse(String(before["nextRotationAt"])) - Date.parse(String(before["lastRotatedAt"]));
    expect(due).to.equal(2 * hourMs);
    await age(id, 3);
    await until(isNew(key, token), 25_000);
    const next = await tokenOf(key);
    await until(async () => (await answer(next)) === 200, announcedMs);
    expect(await answer(token)).to.equal(200);
    await until(async () => (await statusOf(key))["previousTokenValidUntil"] !== undefined);
    const { lastRotatedAt, nextRotationAt, previousTokenValidUntil } = await statusOf(key);
    const rotatedAt = Date.parse(String(lastRotatedAt));
    expect(Date.now() - rotatedAt).to.be.within(0, 60_000);
    expect(Date.parse(String(previousTokenValidUntil)) - rotatedAt).to.equal(hourMs);
    expect(Date.parse(String(nextRotationAt)) - rotatedAt).to.equal(2 * hourMs);
  });

  it("end at once without an overlap", async () => {
    const { key, token, id } = await aKey({ rotation: { everyHours: 1, overlapHours: 0 } });
    await age(id, 1);
    await until(isNew(key, token), 25_000);
    await until(async () => (await answer(token)) === 401, announcedMs);
    expect(await reasonFor(token)).to.equal("revoked");
    expect(await answer(await tokenOf(key))).to.equal(200);
    expect(await statusOf(key)).to.not.have.property("previousTokenValidUntil");
  });

  it("end sooner when the overlap is made shorter", async () => {
    const { key, token, id } = await aKey({ rotation: { everyHours: 720, overlapHours: 24 } });
    await age(id, 720);
    await until(isNew(key, token), 25_000);
    expect(await answer(token)).to.equal(200);
    await herald.patch(key, { spec: { rotation: { overlapHours: 0 } } });
    await until(async () => (await answer(token)) === 401, 25_000);
    expect(await answer(await tokenOf(key))).to.equal(200);
  });

  it("are written once, and stay as they are as long as nothing is due", async () => {
    const { key } = await aKey({ rotation: { everyHours: 1, overlapHours: 1 } });
    const { key: plain, id } = await aKey();
    await age(id, 9_000);
    const versions = async () =>
      [await secretOf(key), await secretOf(plain)].map((seen) => seen?.metadata.resourceVersion);
    const before = await versions();
    const [first, resources] = [await passes(), 3 + (await rows().countDocuments())];
    await until(async () => (await passes()) >= first + 3 * resources, 25_000);
    expect(await versions()).to.deep.equal(before);
    expect(await statusOf(plain)).to.not.have.property("nextRotationAt");
  });

  it("are replaced at once when their Secret is deleted, and the former is refused once that is announced", async () => {
    const { key, token } = await aKey();
    await herald.remove(make.secret(`${key.metadata.name}-connection`, {}));
    await until(isNew(key, token), announcedMs);
    await until(async () => (await answer(token)) === 401, announcedMs);
    expect(await answer(await tokenOf(key))).to.equal(200);
  });

  it("are refused after their key was deleted, and their Secret goes with it", async () => {
    const { key, token, id } = await aKey({ rotation: { everyHours: 1, overlapHours: 1 } });
    await age(id, 1);
    await until(isNew(key, token), 25_000);
    const next = await tokenOf(key);
    expect([await answer(token), await answer(next)]).to.deep.equal([200, 200]);
    await herald.remove(key);
    await herald.gone(key);
    await until(async () => (await answer(token)) === 401 && (await answer(next)) === 401, announcedMs);
    expect([await reasonFor(token), await reasonFor(next)]).to.deep.equal(["revoked", "revoked"]);
    expect(await secretOf(key)).to.equal(null);
    expect(await rows().countDocuments({ _id: id })).to.equal(0);
  });

  const refused = [
    { it: "an overlap that is longer than the interval", rotation: { everyHours: 2, overlapHours: 3 } },
    { it: "an interval of nothing", rotation: { everyHours: 0, overlapHours: 0 } },
    { it: "an interval of more than a year", rotation: { everyHours: 8_761 } },
    { it: "an overlap of more than a month", rotation: { everyHours: 8_760, overlapHours: 721 } },
    { it: "a daily overlap, by default, of an hourly interval", rotation: { everyHours: 1 } },
  ];
  for (const { it: name, rotation } of refused) {
    it(`are not rotated by ${name}: the API server refuses it`, async () => {
      const key = make.apiKey({ rotation }, "refused");
      const refusal = await herald.apply(key).then(
        () => null,
        (error: Error) => error.message,
      );
      expect(refusal).to.match(/rotation/);
    });
  }
});
