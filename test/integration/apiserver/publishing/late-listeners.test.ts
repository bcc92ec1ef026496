import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { lateListeners } from "../../../../apiserver/publishing/late-listeners.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";

describe("listeners of core subjects", () => {
  const opened: Nats[] = [];

  const connected = async (): Promise<Nats> => {
    const nats = await connectNats({ url: (await testServers()).natsUrl, name: "late-listeners" });
    opened.push(nats);
    return nats;
  };
  after(() => Promise.all(opened.map((nats) => nats.close())));

  it("wait for the next connection while the one there is drains", async () => {
    const [draining, next] = [await connected(), await connected()];
    const late = lateListeners();
    let heard = 0;
    late.linked(draining.nc);
    const drained = draining.nc.drain();
    const stop = late.listen("late-listeners.test", () => heard++);
    await drained;
    expect(heard).to.equal(0);
    late.linked(next.nc);
    await until(async () => heard === 1); // something may have been missed
    next.nc.publish("late-listeners.test");
    await until(async () => heard === 2);
    stop();
  });
});
