import { expect } from "chai";
import { until } from "../../../support/until.ts";
import { type CheckSite, openCheckSite } from "./check-site.ts";

const minuteMs = 60_000;

describe("connection tests of accounts", () => {
  let site: CheckSite;
  before(async () => {
    site = await openCheckSite();
  });
  afterEach(() => site.reset());
  after(() => site.close());

  const inMs = async (id: string): Promise<number> =>
    ((await site.row(id))?.due_at?.getTime() ?? 0) - site.clock.now().getTime();

  it("find what works, tell of it, send nobody anything, and come again within a day", async () => {
    const app = await site.app({ ios_push: "known" });
    const one = await site.dispatcher();
    await site.tested(app, "ios_push");
    const row = await site.row(`${app._id}/ios_push`);
    expect(row?.last).to.include({ result: "verified", reason: null, provider_code: null, revision: 1, times: 1 });
    expect(await inMs(`${app._id}/ios_push`)).to.be.within(11.9 * 60 * minuteMs, 24 * 60 * minuteMs);
    expect(site.apns.log.counts()).to.include({ received: 1, accepted: 0 });
    await until(() => site.announced.includes(`apps ${app._id}`));
    await until(() => one.lines.some(({ event }) => event === "job.ran")); // the last that is said of it
    expect(await one.counts()).to.deep.equal([{ channel: "ios_push", result: "verified" }]);
    const [line, ...more] = one.lines.filter(({ event }) => event === "job.ran");
    expect(more).to.deep.equal([]);
    expect(line).to.include({ channel: "ios_push", provider: "apns", account: "verified", app: app._id });
  });

  it("name the provider's own word for a key that it refuses, and no secret", async () => {
    const app = await site.app({ ios_push: "unknown" });
    const one = await site.dispatcher();
    await site.tested(app, "ios_push");
    const last = (await site.row(`${app._id}/ios_push`))?.last;
    expect(last).to.include({ result: "refused", provider_code: "403 InvalidProviderToken" });
    expect(last?.reason).to.match(/InvalidProviderToken/);
    expect(await inMs(`${app._id}/ios_push`)).to.be.within(29 * minuteMs, 60 * minuteMs);
    expect(JSON.stringify([last, one.lines])).not.to.contain("PRIVATE KEY");
  });

  it("refuse credentials that cannot be opened", async () => {
    const app = await site.app({ ios_push: "sealed elsewhere" });
    await site.dispatcher();
    await site.tested(app, "ios_push");
    expect((await site.row(`${app._id}/ios_push`))?.last).to.include({ result: "refused" });
  });

  it("try a provider that is away ever more rarely, and at once again when the account changes", async () => {
    site.apns.script({ refuse_connections: true });
    const app = await site.app({ ios_push: "known" });
    const id = `${app._id}/ios_push`;
    await site.dispatcher();
    await site.tested(app, "ios_push");
    const since = (await site.row(id))?.last?.since;
    expect((await site.row(id))?.last).to.include({ result: "unreached", times: 1 });
    expect(await inMs(id)).to.be.within(0, minuteMs);
    for (const [times, minutes] of [
      [2, 2],
      [3, 4],
    ] as const) {
      site.shift(2 ** times * minuteMs);
      await until(async () => (await site.row(id))?.last?.times === times);
      expect(await inMs(id)).to.be.within((minutes / 2 - 0.5) * minuteMs, minutes * minuteMs);
    }
    expect((await site.row(id))?.last?.since).to.deep.equal(since);
    site.apns.script({});
    await site.ask({ ...app, channels_revision: 2 });
    await until(async () => (await site.row(id))?.last?.result === "verified");
    expect((await site.row(id))?.last).to.include({ revision: 2, times: 1 });
  });

  it("delay nobody else while a provider is silent", async () => {
    const slow = await Promise.all(Array.from({ length: 20 }, () => site.app({ email: "silent" })));
    const one = await site.dispatcher();
    await until(() => site.silent() === slow.length);
    const app = await site.app({ ios_push: "known" });
    await site.tested(app, "ios_push");
    expect((await one.counts()).map(({ channel }) => channel)).to.deep.equal(["ios_push"]);
  });

  it("end in time when a provider is silent, and say so", async () => {
    const app = await site.app({ email: "silent" });
    await site.dispatcher({ timeoutMs: 500 });
    await site.tested(app, "email");
    const last = (await site.row(`${app._id}/email`))?.last;
    expect(last).to.include({ result: "unreached" });
    expect(last?.reason).to.match(/in time/);
  });

  it("are made again by another dispatcher when one stops amid them", async () => {
    const app = await site.app({ email: "silent" });
    const id = `${app._id}/email`;
    const one = await site.dispatcher();
    await until(() => site.silent() === 1);
    await one.stop();
    expect((await site.row(id))?.last, "what was cut off says nothing").to.equal(null);
    expect(await one.counts()).to.deep.equal([]);
    await site.dispatcher({ timeoutMs: 500 });
    await site.tested(app, "email");
    expect((await site.row(id))?.last).to.include({ result: "unreached", times: 1 });
  });

  it("are made anew when the account changes amid them: what they find then does not count", async () => {
    const app = await site.app({ email: "silent" });
    const one = await site.dispatcher({ timeoutMs: 2_000 });
    await until(() => site.silent() === 1);
    await site.ask({ ...app, channels_revision: 2 });
    await until(() => one.lines.some(({ event }) => event === "job.ran"));
    expect((await site.row(`${app._id}/email`))?.last).to.equal(null);
    site.shift(11_000); // the hint of the second test was refused while the first one's was in hand
    await site.tested(app, "email");
    const row = await site.row(`${app._id}/email`);
    expect(row?.last).to.include({ revision: 2, times: 1 });
    expect(row?.revision).to.equal(2);
    expect(site.silent()).to.equal(2);
    expect(await one.counts()).to.have.length(1);
  });

  it("end with their account, and with the app", async () => {
    const [without, gone] = [await site.app({ ios_push: "known" }), await site.app({ ios_push: "known" })];
    await site.apps.updateOne({ _id: without._id }, { $set: { channels: {} } });
    await site.apps.deleteOne({ _id: gone._id });
    await site.dispatcher();
    await until(async () => (await site.count()) === 0);
    expect(site.apns.log.counts().received).to.equal(0);
  });
});
