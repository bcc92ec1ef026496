import { expect } from "chai";
import { type Recounted, recount } from "../../../../dispatcher/messages/recount.ts";
import { handClock, noon } from "../../../support/rows/work.ts";

const minutesAgo = (minutes: number): Date => new Date(noon.getTime() - minutes * 60_000);
const anEnded = (over: Partial<Recounted> = {}): Recounted => ({
  _id: "msg_1",
  completed_at: minutesAgo(3),
  counted_at: minutesAgo(3),
  updated_at: minutesAgo(2),
  counts: { sent: 1 },
  options: {},
  reserved: { periods: ["2026-03"], count: 3 },
  ...over,
});

const tallyOf = (sent: number) => async () =>
  sent === 0 ? [] : [{ ...none, status: "sent" as const, reported: { sent }, count: sent }];
const none = { error_code: null, uncertain: 0, segments: 0 };

/** What is to be settled once they are counted. */
const unsettledOf = async (message: Recounted, sent: number): Promise<number | undefined> => {
  let unsettled: number | undefined;
  const run = recount({
    deliveries: { tally: tallyOf(sent) },
    effects: { tally: () => expect.fail("nobody is measured") },
    messages: {
      recounted: async (_message, counted) => void (unsettled = counted.unsettled),
      recountAt: () => expect.fail("it is due"),
    },
    clock: handClock(),
  });
  await run(message);
  return unsettled;
};

/** Minutes from noon until when the message is left alone; null: it was counted. */
const recounted = async (message: Recounted): Promise<number | null> => {
  let leftUntil: Date | null = null;
  const run = recount({
    deliveries: { tally: async () => [] },
    effects: { tally: () => expect.fail("nobody is measured") },
    messages: { recounted: async () => undefined, recountAt: async (_id, at) => void (leftUntil = at) },
    clock: handClock(),
  });
  await run(message);
  return leftUntil === null ? null : ((leftUntil as Date).getTime() - noon.getTime()) / 60_000;
};

describe("counters that may be wrong", () => {
  const cases: { it: string; message: Partial<Recounted>; expect: number | null }[] = [
    { it: "are made anew once it is quiet", message: {}, expect: null },
    { it: "wait while others move them", message: { updated_at: noon }, expect: 1 / 6 },
    { it: "wait a minute after they were made", message: { counted_at: minutesAgo(0.5) }, expect: 0.5 },
    {
      it: "wait the longer the older the message is",
      message: { completed_at: minutesAgo(80), counted_at: minutesAgo(5) },
      expect: 15,
    },
    {
      it: "of an old message are made anew, too",
      message: { completed_at: minutesAgo(80), counted_at: minutesAgo(20) },
      expect: null,
    },
  ];
  for (const { it: name, message, expect: wanted } of cases)
    it(name, async () => expect(await recounted(anEnded(message))).to.equal(wanted));

  it("charge what was sent since, where something limits it", async () => {
    expect(await unsettledOf(anEnded(), 3)).to.equal(-2);
    expect(await unsettledOf(anEnded(), 1)).to.equal(undefined);
    expect(await unsettledOf(anEnded({ counts: { sent: 3 } }), 1)).to.equal(undefined);
    expect(await unsettledOf(anEnded({ reserved: null }), 3)).to.equal(undefined);
  });
});
