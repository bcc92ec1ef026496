import { expect } from "chai";
import { type Api, startApi } from "../../../support/api/api.ts";
import { announcedMs, until } from "../../../support/until.ts";
import { keysOf } from "../support/api-keys.ts";
import { type Installation, installation, type Manifest } from "../support/harness.ts";
import { type HttpLink, httpLinkTo, type LinkRequest } from "../support/http-link.ts";
import { manifests } from "../support/manifests.ts";

const hourMs = 3_600_000;

describe("operator: a token whose Secret cannot be written", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let link: HttpLink;
  let api: Api;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    link = await httpLinkTo(herald.servers.kubeconfig);
    await herald.apply(make.namespace);
    await herald.start({ kubeconfig: link.kubeconfig, settings: { resyncSeconds: 1 } });
    api = await startApi(
      herald.servers,
      { name: herald.id, database: herald.db.databaseName },
      { HERALD_KEY_RING: herald.settings.keyRing },
    );
    for (const object of [make.plan(), make.tenant(), make.app({ channels: {} })]) await herald.apply(object);
    await herald.ready(make.app());
  });
  after(async () => {
    await api?.process.kill();
    await herald?.close();
    await link?.close();
  });

  const { rows, nameOf, tokenOf, statusOf, answer, aKey, age } = keysOf(() => ({ herald, make, api }));
  let refusals = 0;
  /** Refuses to write the key's Secret, until everything is allowed again. */
  const refuse = (method: "POST" | "PUT", key: Manifest): void => {
    const end = method === "POST" ? "/secrets" : `/secrets/${nameOf(key)}`;
    const isWrite = (asked: LinkRequest): boolean =>
      asked.method === method && asked.path.endsWith(end) && ++refusals > 0;
    refusals = 0;
    link.answer(isWrite, { status: 422, reason: "Invalid" }, Infinity);
  };
  let nudges = 0;
  /** Has the key looked at again and again, without the wait after a failure, until it was refused so often. */
  const refused = (key: Manifest, times: number): Promise<void> =>
    until(async () => {
      if (refusals >= times) return true;
      await herald.patch(key, { metadata: { annotations: { "herald.dev/nudge": String(++nudges) } } });
      return false;
    }, 60_000);

  const cases = [
    { it: "with a day of overlap", spec: { rotation: { everyHours: 48, overlapHours: 24 } }, after: 200 },
    { it: "without an overlap", spec: { rotation: { everyHours: 48, overlapHours: 0 } }, after: 401 },
    {
      it: "of a key that ends",
      spec: {
        expiresAt: new Date(Date.now() + 240 * hourMs).toISOString(),
        rotation: { everyHours: 48, overlapHours: 24 },
      },
      after: 200,
    },
  ];
  for (const { it: name, spec, after: then } of cases) {
    it(`stays in use until another is in the Secret, ${name}`, async () => {
      const { key, token, id } = await aKey(spec);
      refuse("PUT", key);
      await age(id, 48);
      await refused(key, 8);
      expect(await tokenOf(key)).to.equal(token);
      expect(await answer(token)).to.equal(200);
      link.allow();
      await until(async () => (await tokenOf(key)) !== token, 60_000);
      await until(async () => (await answer(token)) === then, announcedMs);
      expect(await answer(await tokenOf(key))).to.equal(200);
      const { hashes } = (await rows().findOne({ _id: id })) ?? { hashes: [] };
      expect(hashes, "of no token that nobody has").to.have.lengthOf(then === 200 ? 2 : 1);
      await until(async () => Date.now() - Date.parse(String((await statusOf(key))["lastRotatedAt"])) < 120_000); // not two days ago
    });
  }

  it("leaves those of a key that is taken over another day", async () => {
    const { key, token, id } = await aKey({ deletionPolicy: "Retain" });
    await herald.remove(key);
    await herald.gone(key);
    const spec = { externalName: id, connectionSecretName: "elsewhere" };
    const next = { ...make.apiKey(spec, "adopter") };
    next.metadata.annotations = { "herald.dev/adopt": id };
    refuse("POST", next);
    await herald.apply(next);
    await refused(next, 3);
    link.allow();
    await herald.ready(next);
    expect(await answer(await tokenOf(next))).to.equal(200);
    expect(await answer(token)).to.equal(200);
    const { hashes } = (await rows().findOne({ _id: id })) ?? { hashes: [] };
    expect(hashes).to.have.lengthOf(2);
    expect((hashes[1]?.expires_at?.getTime() ?? 0) - Date.now()).to.be.within(23.9 * hourMs, 24 * hourMs);
  });

  it("works never again once it was revoked: the key gets another", async () => {
    const { key, token, id } = await aKey();
    refuse("PUT", key);
    await rows().updateOne({ _id: id }, { $set: { revoked_at: new Date() } });
    await refused(key, 2);
    link.allow();
    await until(async () => (await tokenOf(key)) !== token, 60_000);
    await until(async () => (await answer(await tokenOf(key))) === 200, announcedMs);
    expect(await answer(token)).to.equal(401);
    expect(await rows().findOne({ _id: id })).to.include({ revoked_at: null });
  });
});
