import { expect } from "chai";
import type { Rendering } from "#core/channels/kit/rendering.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import type { Account } from "../../../../dispatcher/channels/kit/provider.ts";
import { type Senders, senders } from "../../../../dispatcher/channels/registry.ts";
import { aMessage, anApp, handClock } from "../../../support/rows/work.ts";

const most = 500; // accounts that are open at once
const never = new AbortController().signal;
const to = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: "a" };

/** Accounts that send at once, and close when they are let. */
const given = (close: (app: string) => Promise<void> = async () => undefined) => {
  const closed: string[] = [];
  const rendered: Rendering[] = [];
  const clock = handClock();
  const open: Parameters<typeof senders>[0]["open"] = ({ _id }) => ({
    name: "apns",
    prepare: (rendering) => {
      rendered.push(rendering);
      return async () => ({ kind: "sent", providerId: null });
    },
    check: async () => ({ kind: "sent", providerId: null }),
    close: async () => {
      closed.push(_id);
      await close(_id);
    },
  });
  const metrics = createMetrics("dispatcher");
  const all = senders({
    open,
    peers: { count: () => 1 },
    tracer: noTracer,
    clock,
    metrics,
    log: createLog({ program: "dispatcher", level: "fatal" }),
  });
  return { all, closed, clock, rendered };
};

const use = (all: Senders, n: number, revision = 1) =>
  all.of(anApp({ _id: `app_${n}`, channels_revision: revision }), "ios_push");

describe("the accounts of a process", () => {
  it("make room for another app without making it wait for the one that is closed", async () => {
    const hanging = Promise.withResolvers<void>();
    const { all, closed, clock } = given((app) => (app === "app_0" ? hanging.promise : Promise.resolve()));
    for (let n = 0; n <= most; n++) {
      await use(all, n);
      clock.tick(1);
    }
    expect(closed).to.deep.equal(["app_0"]);
    let isClosed = false;
    const closing = all.close().then(() => (isClosed = true));
    await use(given().all, 0); // some turns of the event loop
    expect(isClosed).to.equal(false);
    hanging.resolve();
    await closing;
    expect(closed).to.have.length(most + 1);
  });

  it("close the one that has sent nothing for longest, not the one whose work began first", async () => {
    const { all, closed, clock } = given();
    const busy = (await use(all, 0)).prepare(aMessage(), null, 60);
    for (let n = 1; n <= most; n++) {
      clock.tick(1);
      await busy(to, never, () => false);
      await use(all, n);
    }
    expect(closed).to.deep.equal(["app_1"]);
  });

  it("stay open for as long as a long piece of work sends, and are closed when they were not used for a while", async () => {
    const { all, closed, clock } = given();
    const busy = (await use(all, 0)).prepare(aMessage(), null, 60);
    await use(all, 1);
    clock.tick(600_001);
    await busy(to, never, () => false);
    all.closeIdle();
    expect(closed).to.deep.equal(["app_1"]);
  });

  it("are opened anew when their credentials changed, and the former are closed", async () => {
    const { all, closed } = given(() => new Promise(() => undefined));
    await use(all, 0);
    await use(all, 0, 2);
    expect(closed).to.deep.equal(["app_0"]);
  });

  it("are given a message without what asks for nothing", async () => {
    const { all, rendered } = given();
    const content = { contents: { en: "x" }, buttons: [], ios_attachments: {}, web_buttons: [], url: "" as const };
    (await use(all, 0)).prepare(aMessage({ content }), null, 60);
    expect(rendered[0]?.content).to.deep.equal({ contents: { en: "x" } });
  });

  it("are told for about how many it is", async () => {
    const { all, rendered } = given();
    const accepted = { recipients_estimate: 5_000, external_id_missing: [] };
    (await use(all, 0)).prepare(aMessage({ accepted }), null, 60);
    expect(rendered[0]?.recipients).to.equal(5_000);
  });

  it("keep who waits for their pace from taking a place", async () => {
    const account = {
      name: "meta",
      check: async () => sent,
      close: async () => undefined,
      prepare: () => async () => sent,
    };
    const open = (): Account => ({ ...account, takes: { perSecond: 10 } });
    const log = createLog({ program: "dispatcher", level: "fatal" });
    const all = senders({
      open,
      tracer: noTracer,
      peers: { count: () => 1 },
      clock: handClock(),
      metrics: createMetrics("dispatcher"),
      log,
    });
    const { capacity } = await all.of(anApp(), "whatsapp");
    expect(await capacity?.turn?.(never)).to.equal(true);
    const beganMs = performance.now();
    expect(await capacity?.turn?.(never)).to.equal(true);
    expect(performance.now() - beganMs).to.be.above(50);
    expect(await capacity?.turn?.(AbortSignal.abort())).to.equal(false);
  });

  it("keep an account's pace together with those of other processes", async () => {
    const open = (): Account => ({
      name: "meta",
      check: async () => sent,
      close: async () => undefined,
      prepare: () => async () => sent,
      takes: { perSecond: 100 },
    });
    const log = createLog({ program: "dispatcher", level: "fatal" });
    const aProcess = () =>
      senders({
        open,
        tracer: noTracer,
        peers: { count: () => 2 },
        clock: handClock(),
        metrics: createMetrics("dispatcher"),
        log,
      }).of(anApp(), "whatsapp");
    const rooms = (await Promise.all([aProcess(), aProcess()])).map(({ capacity }) => capacity);
    const beganMs = performance.now();
    await Promise.all(rooms.flatMap((capacity) => Array.from({ length: 11 }, async () => capacity?.turn?.(never))));
    expect(performance.now() - beganMs).to.be.at.least(195); // 22 turns, of which the first two need not wait
  });
});

const sent = { kind: "sent", providerId: null } as const;
