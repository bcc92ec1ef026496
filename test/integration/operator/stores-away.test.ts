import { expect } from "chai";
import { privateServers } from "../../support/servers.ts";
import { until } from "../../support/until.ts";
import { type Installation, installation } from "./harness.ts";
import { manifests } from "./manifests.ts";

describe("operator: a store that is away", function () {
  this.timeout(90_000);
  let herald: Installation;
  let make: ReturnType<typeof manifests>;
  let own: Awaited<ReturnType<typeof privateServers<"nats">>>;

  before(async () => {
    own = await privateServers({ nats: true });
    herald = await installation();
    make = manifests(herald);
    await herald.start({ natsUrl: own.nats.url });
  });
  after(async () => {
    await herald.close();
    await own.close();
  });

  const synced = async (): Promise<string> => (await herald.conditionOf(make.plan(), "Synced"))?.status ?? "";

  it("is told in Synced, leaves Ready unknown for what is new, and heals", async () => {
    await own.nats.stop();
    await herald.apply(make.plan());
    await until(async () => (await synced()) === "False", 30_000);
    const condition = await herald.conditionOf(make.plan(), "Ready");
    expect(condition).to.include({ status: "Unknown", reason: "Unavailable" });
    await own.nats.start();
    await herald.ready(make.plan());
    expect(await synced()).to.equal("True");
  });

  it("never makes a finalizer drop: the stream goes first, however long that takes", async () => {
    await own.nats.stop();
    await herald.remove(make.plan());
    await until(async () => (await synced()) === "False", 30_000);
    expect((await herald.get(make.plan()))?.metadata.deletionTimestamp).to.be.a("string");
    await own.nats.start();
    await herald.gone(make.plan());
  });
});
