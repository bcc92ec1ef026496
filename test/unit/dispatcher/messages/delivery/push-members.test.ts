import { expect } from "chai";
import type { Outcome, Recipient } from "#core/domain/messages/outcome.ts";
import { collapseKey } from "#core/storage/messages/collapse.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { deliver } from "../../../../../dispatcher/messages/delivery/deliver.ts";
import type { DeliverDeps } from "../../../../../dispatcher/messages/delivery/deliver-deps.ts";
import { gates } from "../../../../../dispatcher/messages/gates/all.ts";
import { aChunk, aLease, aMessage, anApp, aSubscription, handClock, noon } from "../../../../support/rows/work.ts";

const lost: Outcome = { kind: "uncertain", reason: "reset" };
const taken: Outcome = { kind: "sent", providerId: null };

/** A run over subscriptions of one channel; what it did stands in `done`, in order. */
const given = (change: Partial<MessageRow>, answer: Outcome = taken, newer: ReadonlySet<string> = new Set()) => {
  const done: unknown[] = [];
  const sent: Recipient[] = [];
  const deps: DeliverDeps = {
    recipients: {
      load: async (ids) =>
        ids.map((_id) => aSubscription({ _id, status: _id === "sub_off" ? "unsubscribed" : "subscribed" })),
      languages: async () => new Map(),
      people: async () => new Map(),
      badges: async (...asked) => {
        done.push(["badges", ...asked]);
        return new Map([["sub_1", 7]]);
      },
    },
    templates: { open: async () => null },
    inbox: () => null,
    deliveries: { existing: async () => [], record: async () => "new" },
    gates: gates({
      clock: handClock(),
      suppressions: { gate: () => () => null },
      newer: async ({ _id }, keys) => {
        done.push(["newer", _id, keys]);
        return newer;
      },
    }),
    senders: {
      of: async () => ({
        name: "any",
        hasReached: () => true,
        prepare: () => async (to) => {
          done.push("send");
          sent.push(to);
          return answer;
        },
      }),
    },
    guard: { ofAnswers: async () => new Set() },
    quietHours: async () => null,
    caps: () => null,
    throttle: () => null,
    window: { slot: (_account, run) => run() },
    stopping: new AbortController().signal,
    cut: new AbortController().signal,
    clock: handClock(),
    random: () => 0.5,
  };
  const run = (recipients: string[], chunk: Parameters<typeof aChunk>[0] = {}) =>
    deliver(deps)({ chunk: aChunk({ recipients, ...chunk }), message: aMessage(change), app: anApp() }, aLease());
  return { done, sent, run };
};

describe("a badge that is counted", () => {
  const content = { contents: { en: "x" }, ios_badge_type: "Increase", ios_badge_count: 2 } as const;

  it("is added to before the send, once for all who are sent to, and sent with each", async () => {
    const { run, done, sent } = given({ content });
    await run(["sub_1", "sub_off"]);
    expect(done).to.deep.equal([["badges", "msg_1", ["sub_1"], { add: 2 }], "send"]);
    expect(sent[0]).to.include({ subscriptionId: "sub_1", badge: 7 });
  });

  it("is only read for a retry, whose recipients were added to before their first try", async () => {
    const { run, done, sent } = given({ content });
    await run(["sub_1"], { attempt: 1 });
    expect(done).to.deep.equal([["badges", "msg_1", ["sub_1"], { add: 0 }], "send"]);
    expect(sent[0]).to.include({ badge: 7 });
  });

  it("is set, and nothing is told to the provider of each", async () => {
    const { run, done } = given({ content: { contents: { en: "x" }, ios_badge_count: 3 } });
    await run(["sub_1"]);
    expect(done).to.deep.equal([["badges", "msg_1", ["sub_1"], { set: 3 }], "send"]);
  });

  it("costs nothing where none was asked for, on other channels, and when nobody is sent to", async () => {
    for (const { change, recipients, chunk } of [
      { change: {}, recipients: ["sub_1"], chunk: {} },
      { change: { content: { ...content, ios_badge_type: "None" as const } }, recipients: ["sub_1"], chunk: {} },
      { change: { content }, recipients: ["sub_1"], chunk: { channel: "android_push" as const } },
      { change: { content }, recipients: ["sub_off"], chunk: {} },
      { change: { content }, recipients: ["sub_1"], chunk: { dispatched_at: new Date(noon.getTime() - 1e9) } },
    ]) {
      const { run, done } = given(change);
      await run(recipients, chunk);
      expect(done.filter((one) => one !== "send")).to.deep.equal([]);
    }
  });
});

describe("a push with a collapse id", () => {
  const options = { collapse_id: "score" };
  const keys = ["sub_1", "sub_2"].map((id) => collapseKey("score", id));

  it("is stored so that older ones find that it was sent", async () => {
    const { stored } = await given({ options }).run(["sub_1", "sub_2"]);
    expect(stored.map((row) => row.collapse_key)).to.deep.equal(keys);
    const expired = await given({ options }).run(["sub_1"], { dispatched_at: new Date(noon.getTime() - 1e9) });
    expect(expired.stored[0]).not.to.have.property("collapse_key");
  });

  it("is not sent any more to whom a newer one was sent", async () => {
    const { run, done, sent } = given({ options }, taken, new Set([keys[1] ?? ""]));
    const { stored } = await run(["sub_1", "sub_2"]);
    expect(done[0]).to.deep.equal(["newer", "msg_1", keys]);
    expect(sent.map(({ subscriptionId }) => subscriptionId)).to.deep.equal(["sub_1"]);
    expect(stored.find((row) => row.subscription_id === "sub_2")).to.include({
      status: "suppressed",
      suppression_reason: "superseded",
      error_code: "SUPERSEDED",
    });
  });

  it("is tried again when its answer was lost, because a repeat replaces it", async () => {
    const { stored, again } = await given({ options }, lost).run(["sub_1"]);
    expect(stored).to.deep.equal([]);
    expect(again.map(({ subscriptionId }) => subscriptionId)).to.deep.equal(["sub_1"]);
  });

  it("is like any other message on a channel where nothing is replaced", async () => {
    const { run, done } = given({ options }, lost);
    const { stored, again } = await run(["sub_1"], { channel: "email" });
    expect(done).to.deep.equal(["send"]);
    expect(stored[0]).not.to.have.property("collapse_key");
    expect(stored[0]).to.include({ status: "sent", uncertain: true });
    expect(again).to.deep.equal([]);
  });
});
