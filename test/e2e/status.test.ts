import type { StatusDocument } from "#core/schema/status/status.ts";
import { eventually } from "./support/cluster/cluster.ts";
import { type Monitor, startMonitor } from "./support/cluster/monitor.ts";
import { releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

const withinMs = 180_000;

describe("the status of an installation that a Prometheus in the cluster judges", function () {
  this.timeout(900_000); // every wait inside has a bound of its own
  let at: System;
  let monitor: Monitor;

  before(async () => {
    at = await system();
    monitor = await startMonitor(at.cluster);
    await at.release.upgrade(`apiserver.status.prometheusUrl=${monitor.url}`);
    await at.release.settled();
  });
  after(async () => {
    await at.release.upgrade("apiserver.status.prometheusUrl=");
    await monitor?.remove();
  });

  const delivery = async (): Promise<string | undefined> => {
    const reply = await fetch(`${at.at.rest}/status.json`);
    const { components } = (await reply.json()) as StatusDocument; // the apiserver's own
    return components.find(({ name }) => name === "delivery")?.status;
  };
  const becomes = (status: string) =>
    eventually(`delivery is ${status}`, withinMs, async () => ((await delivery()) === status ? true : null));
  const dispatchers = (count: number) =>
    at.cluster.kubectl(["scale", "deployment", `${releaseName}-dispatcher`, "-n", releaseName, `--replicas=${count}`]);

  it("is asked of Prometheus, and says that nothing is delivered while no dispatcher runs", async () => {
    const before = await monitor.answered();
    await eventually("a question to Prometheus", withinMs, async () => {
      await delivery(); // what was judged some seconds ago is not asked again
      return (await monitor.answered()) > before ? true : null;
    });
    await becomes("operational");
    await dispatchers(0);
    await becomes("major_outage");
    await dispatchers(2);
    await at.release.settled();
    await becomes("operational");
  });
});
