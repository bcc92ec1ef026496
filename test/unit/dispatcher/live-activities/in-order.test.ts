import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import type { LiveActivityRow } from "#core/storage/live-activities/activities.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { inOrder } from "../../../../dispatcher/live-activities/in-order.ts";
import { aLease, aMessage, handClock } from "../../../support/rows/work.ts";

const live = {
  event: "update" as const,
  activity: "act_1",
  activity_id: "a",
  type_id: "lat_1",
  type_name: "T",
  content_state: {},
  priority: 10 as const,
};
const message = aMessage({ live_activity: live });

/** An activity whose turn is free, or is taken by others for so many tries. */
const site = ({ busy = 0, newer = null as MessageRow | null } = {}) => {
  const clock = handClock();
  const log: string[] = [];
  let left = busy;
  const taken = { _id: "act_1", turns: 1, sender: { holder: "me", until: new Date(clock.now().getTime() + 10_000) } };
  const send = inOrder({
    activities: {
      takeTurn: async () => {
        log.push("asked");
        return left-- > 0 ? null : (taken as LiveActivityRow); // what is looked at is there
      },
      extendTurn: async () => true,
      endTurn: async () => void log.push("given back"),
    },
    sent: { newerBegun: async () => newer },
    holder: "me",
    timing: timings.usual,
    clock,
  });
  return { send, log, clock };
};

describe("the turn of a live activity", () => {
  it("is had while something is sent, and given back", async () => {
    const { send, log } = site();
    const result = await send(message, aLease(), async ({ isSuperseded }) => {
      log.push("sent");
      return isSuperseded;
    });
    expect([result, log]).to.deep.equal([false, ["asked", "sent", "given back"]]);
  });

  it("is waited for", async () => {
    const { send, log } = site({ busy: 3 });
    await send(message, aLease(), async () => void log.push("sent"));
    expect(log).to.deep.equal(["asked", "asked", "asked", "asked", "sent", "given back"]);
  });

  it("is given back before what a newer one has made useless ends", async () => {
    const { send, log } = site({ newer: message });
    const result = await send(message, aLease(), async ({ isSuperseded }) => {
      log.push("ended");
      return isSuperseded;
    });
    expect([result, log]).to.deep.equal([true, ["asked", "given back", "ended"]]);
  });

  it("is not waited for by what a newer one has made useless", async () => {
    const { send, log } = site({ busy: 9, newer: message });
    await send(message, aLease(), async () => void log.push("ended"));
    expect(log).to.deep.equal(["asked", "ended"]);
  });

  it("is given up once the message's lease is over", async () => {
    const { send } = site({ busy: 9 });
    expect(await send(message, aLease({ isOver: () => true }), async () => "sent")).to.equal(null);
  });

  it("is over for who works under it once its time has passed", async () => {
    const { send, clock } = site();
    const seen = await send(message, aLease(), async (_, lease) => {
      const before = lease.isOver();
      clock.tick(10_000);
      return [before, lease.isOver()];
    });
    expect(seen).to.deep.equal([false, true]);
  });

  it("is given back when sending fails", async () => {
    const { send, log } = site();
    const failed = await send(message, aLease(), () => Promise.reject(new Error("no"))).catch(String);
    expect([failed, log]).to.deep.equal(["Error: no", ["asked", "given back"]]);
  });
});
