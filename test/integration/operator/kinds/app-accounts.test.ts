import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import { type AccountCheckRow, accountCheckCollection, type LastCheck } from "#core/storage/apps/account-checks.ts";
import { type AppRow, appCollection } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { until } from "../../../support/until.ts";
import { type Installation, installation } from "../support/harness.ts";
import { manifests } from "../support/manifests.ts";

describe("operator: the accounts of an App", () => {
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  const at = new Date("2026-11-22T10:00:00.000Z");
  const checks = () => collectionOf<AccountCheckRow>(herald.db, accountCheckCollection);

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    for (const object of [make.namespace, make.plan(), make.tenant(), make.iosSecret(), make.app()])
      await herald.apply(object);
    await herald.start(); // its next resync is ten minutes away
    await herald.ready(make.app());
  });
  after(() => herald.close());

  const verified = async (): Promise<Condition | undefined> =>
    (await herald.get(make.app()))?.status?.conditions?.find(({ type }) => type === "AccountsVerified");
  const becomes = (reason: string) => until(async () => (await verified())?.reason === reason, 25_000);

  /** As a dispatcher does when it has tested the account. */
  const found = async (of: Partial<LastCheck>): Promise<void> => {
    const { _id: id, channels_revision: revision } = (await collectionOf<AppRow>(
      herald.db,
      appCollection,
    ).findOne()) as AppRow;
    const last: LastCheck = {
      result: "verified",
      reason: null,
      provider_code: null,
      revision,
      times: 1,
      checked_at: at,
      since: at,
      ...of,
    };
    await checks().updateOne({ _id: `${id}/ios_push` }, { $set: { last } });
    announcer({ nats: herald.nats, subjects: subjects(herald.id) }).changed(appCollection.name, id, id);
  };

  it("are asked to be tested in the pass that stores them, and are not verified until then", async () => {
    const row = await checks().findOne();
    expect(row).to.include({ channel: "ios_push", revision: 1, fence: 1, last: null });
    expect(row?.due_at?.getTime()).to.be.closeTo(Date.now(), 60_000);
    expect(await verified()).to.include({ status: "Unknown", reason: "AccountNotChecked" });
    expect((await herald.get(make.app()))?.status?.["accounts"]).to.deep.equal([
      { channel: "ios_push", provider: "apns" },
    ]);
  });

  it("are verified as soon as a dispatcher announces it", async () => {
    await found({});
    await becomes("AccountsAccepted");
    expect(await verified()).to.include({ status: "True" });
    const shown = { channel: "ios_push", provider: "apns", result: "verified", checkedAt: at.toISOString() };
    expect((await herald.get(make.app()))?.status?.["accounts"]).to.deep.equal([shown]);
    expect((await checks().findOne())?.fence).to.equal(1); // nothing has changed: nothing is asked for
  });

  it("are refused by name, and the App stays ready", async () => {
    await found({ result: "refused", reason: "APNs refused the push: InvalidProviderToken", provider_code: "403" });
    await becomes("AccountRefused");
    const condition = await verified();
    expect(condition?.status).to.equal("False");
    expect(condition?.message).to.equal("ios_push (apns): APNs refused the push: InvalidProviderToken, 403");
    const ready = (await herald.get(make.app()))?.status?.conditions?.find(({ type }) => type === "Ready");
    expect(ready).to.include({ status: "True", reason: "Reconciled" });
  });

  it("are unknown while the provider is not reached", async () => {
    await found({ result: "unreached", reason: "no answer in time" });
    await becomes("ProviderUnreached");
    expect(await verified()).to.include({ status: "Unknown", message: "ios_push (apns): no answer in time" });
  });

  it("are asked to be tested anew when they change, and what was found before does not count", async () => {
    await found({});
    await becomes("AccountsAccepted");
    await herald.patch(make.app(), { spec: { channels: { ios: { bundleId: "com.example.another" } } } });
    await becomes("AccountNotChecked");
    expect(await checks().findOne()).to.include({ revision: 2, fence: 2 });
  });

  it("are asked to be tested again when that was lost", async () => {
    await checks().deleteMany({});
    await found({});
    await until(async () => (await checks().findOne())?.revision === 2, 25_000);
  });

  it("are fine when the App has none", async () => {
    await herald.patch(make.app(), { spec: { channels: { ios: null } } });
    await becomes("NoAccounts");
    expect(await verified()).to.include({ status: "True" });
  });
});
