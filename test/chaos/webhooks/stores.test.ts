import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { PrivateServer } from "../../support/servers/servers.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { keepPosting, type Stream } from "../../support/webhooks/chaos.ts";
import { useFaultSite } from "../../support/webhooks/faults.ts";
import { auditInbox, type InboxAudit } from "../../support/webhooks/inbox.ts";
import { addEndpoint, deliveriesBecome } from "../../support/webhooks/traffic.ts";

const outageMs = 4_000;
/** For what had to wait for a store that was away. */
const recoveredMs = 45_000;

describe("webhooks during which a store is killed and comes back", () => {
  const site = useFaultSite();
  let dispatchers: SystemProgram[] = [];
  let stream: Stream | undefined;
  const endpoints: Record<string, WebhookRow> = {};

  before(async () => {
    const { system, inbox } = site;
    for (const name of ["redis", "nats", "mongodb"]) {
      endpoints[name] = await addEndpoint(system, { url: `${inbox.url}/${name}`, names: [name] });
    }
    dispatchers = await Promise.all([system.start("dispatcher"), system.start("dispatcher")]);
  });

  afterEach(() => stream?.stop());

  after(() => Promise.all(dispatchers.map((dispatcher) => dispatcher.stop())));

  /** Posts events all the while; what came of them once the store is back, by itself. */
  const sendDespite = async (name: "redis" | "nats" | "mongodb"): Promise<{ audit: InboxAudit; posted: number }> => {
    const store: PrivateServer = site.servers[name];
    const pids = [site.api, ...dispatchers].map((program) => program.pid());
    const arrivals = () => site.inbox.arrivals(`/${name}`);
    stream = keepPosting(site.system, site.api, name);
    await until(() => arrivals().length >= 20);
    await store.kill();
    await sleep(outageMs);
    await store.start();
    const back = stream.posted();
    await until(() => (stream?.posted() ?? 0) >= back + 20);
    const posted = await stream.stop();
    const id = endpoints[name]?._id ?? "";
    const are = ({ success }: { success?: number }): boolean => success === posted;
    await deliveriesBecome(site.system, [id], { are, withinMs: recoveredMs });
    expect(
      pids.filter((pid) => process.kill(pid, 0)),
      "programs that still run",
    ).to.deep.equal(pids);
    return { audit: auditInbox(arrivals(), posted), posted };
  };

  it("go on without Redis, and none is lost or repeated", async () => {
    const { audit, posted } = await sendDespite("redis");
    expect(audit).to.deep.equal({ missed: [], repeated: 0, mostTimes: 1, ids: posted });
  });

  it("wait for JetStream, and none is lost or repeated", async () => {
    const { audit, posted } = await sendDespite("nats");
    expect(audit).to.deep.equal({ missed: [], repeated: 0, mostTimes: 1, ids: posted });
  });

  it("wait for MongoDB, and none is lost or repeated", async () => {
    const { audit, posted } = await sendDespite("mongodb");
    expect(audit).to.deep.equal({ missed: [], repeated: 0, mostTimes: 1, ids: posted });
  });
});
