import { expect } from "chai";
import { inSuite } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";
import { differences } from "../support/audit.ts";
import { type Installation, installation, type Started } from "../support/harness.ts";
import { type HttpLink, httpLinkTo, type LinkRequest } from "../support/http-link.ts";
import { manifests } from "../support/manifests.ts";

const healMs = 40_000; // the longest back-off of a watch is 22 s

describe("operator: an API server that fails loses no event", () => {
  let herald: Installation;
  let link: HttpLink;
  let started: Started;
  let make: ReturnType<typeof manifests>;
  let round = 0;

  before(async () => {
    herald = await installation();
    make = manifests(herald);
    link = await httpLinkTo(herald.servers.kubeconfig);
    started = await herald.start({
      kubeconfig: link.kubeconfig,
      settings: { watchIdleSeconds: 5, resyncSeconds: 600 },
    });
    const whole = [make.namespace, make.plan({ webhookEndpoints: 100 }), make.tenant(), make.iosSecret(), make.app()];
    for (const object of [...whole, make.apiKey(), make.webhook(), make.activityType()]) await herald.apply(object);
  });
  after(async () => {
    await herald.close();
    await link.close();
  });

  const plan = (name: string, spec: object = {}) => make.plan(spec, `${herald.id}-${name}`);

  /** Makes, changes, removes and makes anew resources of several kinds. */
  const turmoil = async (): Promise<void> => {
    round++;
    await herald.apply(make.plan({ apiRps: 1000 + round, webhookEndpoints: 100 }));
    await herald.apply(plan(`fleeting-${round}`));
    await herald.apply(plan(`lasting-${round}`, { backlogPerTenant: round }));
    await herald.apply(make.webhook({ events: ["delivery.sent", "delivery.failed"] }, `hook-${round}`));
    await herald.apply(make.apiKey({}, `key-${round}`));
    await herald.patch(make.app(), { spec: { timeZone: round % 2 === 0 ? "Europe/Berlin" : "Asia/Tokyo" } });
    await herald.remove(plan(`fleeting-${round}`));
    if (round === 1) return;
    await herald.remove(make.webhook({}, `hook-${round - 1}`));
    await herald.remove(make.apiKey({}, `key-${round - 1}`));
    await herald.patch(plan(`lasting-${round - 1}`), { metadata: { finalizers: null } });
    await herald.remove(plan(`lasting-${round - 1}`));
    await herald.apply(plan(`lasting-${round - 1}`, { apiRps: 77 })); // another object of the same name
  };

  const settled = async (): Promise<void> => {
    let last: string[] = [];
    const isTrue = async (): Promise<boolean> => {
      last = await differences(herald);
      return last.length === 0;
    };
    await until(isTrue, healMs).catch((cause: unknown) => {
      throw new Error(`after ${healMs} ms: ${last.join("; ")}`, { cause });
    });
  };

  const isOurs = ({ path }: LinkRequest): boolean => path.startsWith("/apis/herald.dev/");
  const isWatch = (asked: LinkRequest): boolean => asked.isWatch;
  const isList = (asked: LinkRequest): boolean => asked.method === "GET" && !asked.isWatch && isOurs(asked);
  const isWrite = (asked: LinkRequest): boolean => asked.method !== "GET" && !asked.path.includes("/leases");
  const gone = { status: 410, reason: "Expired" };

  it("when every watch is answered 410", async () => {
    link.answer(isWatch, gone, 7);
    link.cut();
    await turmoil();
    await settled();
    expect(link.left()).to.equal(0);
    expect(started.log()).to.include("410 Expired");
  });

  it("when 410 comes in the middle of the stream", async () => {
    await turmoil();
    link.endWatches(410, "Expired");
    await turmoil();
    await settled();
  });

  it("when 410 answers the lists that a 410 asks for", async () => {
    link.answer(isList, gone, 12);
    link.endWatches(410, "Expired");
    await turmoil();
    await settled();
    expect(link.left()).to.equal(0);
  });

  it("when 500 comes in the middle of the stream, and answers lists and watches", async () => {
    link.answer((asked) => isList(asked) || isWatch(asked), { status: 500, reason: "InternalError" }, 16);
    link.endWatches(500, "InternalError");
    await turmoil();
    await settled();
    expect(link.left()).to.equal(0);
  });

  it("when 429 with Retry-After answers lists and watches: it comes again no sooner", async () => {
    const at: number[] = [];
    const isPlans = ({ path, isWatch: isOne }: LinkRequest): boolean => {
      const isIt = isOne && path.startsWith("/apis/herald.dev/v1alpha1/plans?");
      if (isIt) at.push(performance.now());
      return isIt;
    };
    link.answer(isPlans, { status: 429, reason: "TooManyRequests", retryAfterSeconds: 2 }, 2);
    link.cut();
    await turmoil();
    await settled();
    expect(link.left()).to.equal(0);
    expect(at[1]! - at[0]!).to.be.at.least(1_990);
  });

  it("when every fifth write is answered 500, and then every one 429 for a while", async () => {
    let writes = 0;
    link.answer((asked) => isWrite(asked) && ++writes % 5 === 0, { status: 500, reason: "InternalError" }, 8);
    link.answer(isWrite, { status: 429, reason: "TooManyRequests", retryAfterSeconds: 1 }, 12);
    await turmoil();
    await settled();
  });

  it("when watches fall silent: they are opened anew", async () => {
    link.muteWatches();
    await turmoil();
    await settled();
  });

  it("when requests are taken and never answered", async () => {
    link.answer((asked) => isOurs(asked) && isWrite(asked), "silent", 3);
    await turmoil();
    await settled();
    expect(link.left()).to.equal(0);
  });

  it("when all connections are reset every two seconds, again and again, and changes go on", async () => {
    const endsAt = performance.now() + inSuite(10_000, { soak: 60_000 });
    while (performance.now() < endsAt) {
      const nextAt = performance.now() + 2_000;
      link.cut();
      await turmoil();
      await until(() => performance.now() >= nextAt, 25_000);
    }
    await settled();
  });
});
