import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { webhookOwners } from "#core/storage/webhooks/owners.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { partitionOf, testPartitioning } from "../../support/rows/partitioning.ts";
import { testTiming } from "../../support/suite/soak.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { useFaultSite } from "../../support/webhooks/faults.ts";
import { auditInbox } from "../../support/webhooks/inbox.ts";
import { addEndpoint, anEvent, deliveriesBecome, deliveryCounts, postEvents } from "../../support/webhooks/traffic.ts";

const posted = 60;
const later = 40;
const inFlight = 5;
const answersMs = 300;
const storesMs = 500; // results wait so long for the next write: dispatcher/webhooks/history/deliveries.ts
/** What is under way when a dispatcher stands still, and what was answered since its last write. */
const mostUnsaved = inFlight * (1 + Math.ceil(storesMs / answersMs));
/** Until the partitions of a dispatcher that stands still are taken and the other has sent what was left. */
const takenOverMs = testTiming.owners.goneMs + 65_000;

describe("an endpoint whose dispatcher stands still for longer than it may trust its partitions", () => {
  const site = useFaultSite();
  let endpoint: WebhookRow;
  let dispatchers: SystemProgram[] = [];

  before(async () => {
    const { system, inbox } = site;
    endpoint = await addEndpoint(system, { url: `${inbox.url}/slow`, names: ["slow"], max_in_flight: inFlight });
    dispatchers = await Promise.all([system.start("dispatcher"), system.start("dispatcher")]);
  });

  after(async () => {
    for (const dispatcher of dispatchers) dispatcher.resume();
    await Promise.all(dispatchers.map((dispatcher) => dispatcher.stop()));
  });

  const arrivals = () => site.inbox.arrivals("/slow");
  const post = (first: number, count: number): Promise<void> =>
    postEvents(
      site.system,
      site.api,
      Array.from({ length: count }, (_, i) => anEvent("slow", first + i)),
    );
  const rowNow = async (): Promise<WebhookRow | null> =>
    site.system.db.collection<WebhookRow>("webhooks").findOne({ _id: endpoint._id });
  const owner = async (): Promise<SystemProgram | undefined> => {
    const table = await webhookOwners(site.system.db, testPartitioning).partitions.read(new Date());
    const holder = table.owners[partitionOf(endpoint.app_id)]?.holder ?? "";
    return dispatchers.find((one) => holder.includes(`/${one.pid()}/`));
  };
  const allSucceed = (count: number): Promise<void> =>
    deliveriesBecome(site.system, [endpoint._id], { are: ({ success }) => success === count, withinMs: takenOverMs });

  it("is served by the other alone, once more at most for each event under way, and no outcome is lost", async () => {
    site.inbox.answer("/slow", () => sleep(answersMs, 200));
    await post(0, posted);
    await until(() => arrivals().length >= posted / 4);
    const frozen = await owner();
    const fence = (await rowNow())?.fence ?? 0;
    frozen?.pause();
    await allSucceed(posted);
    const now = await rowNow();
    expect(now?.fence).to.be.greaterThan(fence);
    expect(await owner()).to.not.equal(frozen);

    frozen?.resume();
    await post(posted, later);
    await allSucceed(posted + later);
    expect(await deliveryCounts(site.system, [endpoint._id])).to.deep.equal({ success: posted + later });
    const { missed, repeated, mostTimes, ids } = auditInbox(arrivals(), posted + later);
    expect({ missed, ids }).to.deep.equal({ missed: [], ids: posted + later });
    expect(mostTimes).to.be.at.most(2);
    expect(repeated, "what was under way or not stored yet").to.be.at.most(mostUnsaved);
    expect(
      auditInbox(
        arrivals().filter(({ n }) => n >= posted),
        0,
      ).repeated,
    ).to.equal(0);
    const table = await webhookOwners(site.system.db, testPartitioning).partitions.read(new Date());
    const owned = table.owners[partitionOf(endpoint.app_id)];
    expect((await rowNow())?.fence, "no other wrote its health").to.equal(table.base + (owned?.fence ?? 0));
    expect(site.inbox.mostUnderWay("/slow"), "requests of both under way").to.be.at.most(inFlight);
  });
});
