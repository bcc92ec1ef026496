import { expect } from "chai";
import { dayMs } from "#core/domain/durations.ts";
import { isInTest, variantOf } from "#core/domain/experiments/assignment.ts";
import { drawnBy } from "#core/domain/experiments/bandit.ts";
import { sampleRatioP } from "#core/domain/experiments/statistics.ts";
import type { Message } from "#core/schema/messages/message.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { call, to } from "../../support/system/calling.ts";
import {
  changeBetween,
  comesDue,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const withinMs = 60_000 + testTiming.leaseMs;

describe("the winner of variants", () => {
  let sending: Sending;
  let api: SystemProgram;

  before(async () => {
    sending = await startSending(await testServers());
    const programs = ["apiserver", "dispatcher", "dispatcher"] as const;
    [api] = (await Promise.all(programs.map((program) => sending.system.start(program)))) as [SystemProgram];
  });
  after(() => sending?.close());

  const another = async (): Promise<System> => ({ ...sending.system, ...(await sending.system.another()) });
  const textsOf = (): Map<string, string> =>
    new Map(
      sending.apns.log
        .page()
        .map(({ address, body }) => [address, JSON.stringify(body).includes("Hello!") ? "b" : "a"]),
    );

  const asked = { metric: "open_rate", after_minutes: 15, test_percent: 50, min_per_variant: 10 };
  const parts = [
    { name: "plain", weight_percent: 40 },
    { name: "loud", weight_percent: 40, contents: { en: "Hello!" } },
    { name: "silence", weight_percent: 20, is_control: true },
  ];
  /** Whether as many try the one as the other, more or less: by chance a division is one time in 1,000 so uneven that it is not believed. */
  const isEven = (id: string, people: readonly string[]): boolean => {
    const shares = parts.map(({ weight_percent }) => ({ weight_percent }));
    const tests = people.filter((person) => isInTest(id, asked.test_percent, person));
    const [a, b] = shares.map((one) => tests.filter((person) => variantOf(id, shares, person) === one).length);
    return Math.min(a ?? 0, b ?? 0) > asked.min_per_variant && sampleRatioP([a ?? 0, b ?? 0], [1, 1]) > 0.01;
  };
  /** Sends to some for whom a winner is sought; anew where chance divided them unevenly. */
  const sentEvenly = async (body: object): Promise<{ system: System; devices: SubscriptionRow[]; id: string }> => {
    for (;;) {
      const system = await another();
      const devices = await seedDevices(system, 150);
      sending.apns.log.clear();
      const id = await send(system, api, { ...to(devices), ...body });
      const people = devices.map(({ user_id: person }) => person);
      if (isEven(id, people)) return { system, devices, id };
    }
  };
  /** Sends to some for whom a winner is sought, and gives it its end as if the time had come. */
  const tried = async (winner: object, opens: (row: DeliveryRow) => boolean, more: object = {}) => {
    const { system, devices, id } = await sentEvenly({ variants: parts, winner: { ...asked, ...winner }, ...more });
    const [messages, rows, chunks] = [
      system.db.collection<MessageRow>("messages"),
      system.db.collection<DeliveryRow>("deliveries"),
      system.db.collection<ChunkRow>("chunks"),
    ];
    await until(async () => (await messages.findOne({ _id: id, planned: true, lease: null })) !== null, withinMs);
    const left = { message_id: id, status: { $ne: "done" as const } };
    const isFar = ({ scheduled_for: at }: ChunkRow) => (at?.getTime() ?? 0) > Date.now() + 600_000;
    await until(async () => (await chunks.find(left).toArray()).every(isFar), withinMs);
    const waiting = await chunks.find(left).toArray();
    const tests = await rows.find({ message_id: id, variant_id: { $exists: true } }).toArray();
    const at = new Date();
    const ids = tests.filter((row) => row.sent_at !== undefined && opens(row)).map(({ _id }) => _id);
    await rows.updateMany({ _id: { $in: ids } }, { $set: { opened_at: at, status: "opened" } });
    await changeBetween(system, id, { "winner.decides_at": new Date() }, withinMs);
    await comesDue(system, id, withinMs);
    const ended = await system.ended(id, withinMs);
    const shown = (await call(api)(system, "GET", `/v1/notifications/${id}`)).body as Message;
    return { devices, ended, shown, tests, waiting, all: await rows.find({ message_id: id }).toArray() };
  };

  it("is found by a part of the people: the rest gets it, and a control stays one", async () => {
    const { devices, ended, shown, tests, all } = await tried({}, ({ variant_id: of }) => of === "b");
    expect(all).to.have.length(150);
    const shares = parts.map(({ weight_percent }, i) => ({ id: "abc"[i], weight_percent }));
    const texts = textsOf();
    for (const { _id, user_id: person, token } of devices) {
      const drawn = variantOf(ended._id, shares, person)?.id;
      const isTested = drawn === "c" || isInTest(ended._id, asked.test_percent, person);
      const row = all.find(({ subscription_id: of }) => of === _id);
      expect(row?.variant_id, `${drawn} ${isTested}`).to.equal(isTested ? drawn : "b");
      expect(texts.get(token)).to.equal(row?.variant_id === "c" ? undefined : row?.variant_id);
      expect(tests.some(({ subscription_id: of }) => of === _id)).to.equal(isTested);
    }
    expect(shown.winner).to.deep.include({ chosen: "b", rule: "bayes", if_undecided: "best" });
    expect(shown.winner?.verdict).to.deep.include({ decided: true, winner: "b", reason: "better", needs_more: 0 });
    const sentTo = (id: string) => tests.filter((row) => row.variant_id === id && row.sent_at !== undefined).length;
    expect(shown.winner?.verdict?.variants.map(({ id, n, conversions }) => [id, n, conversions])).to.deep.equal([
      ["a", sentTo("a"), 0],
      ["b", sentTo("b"), sentTo("b")],
    ]);
    expect(shown.variants?.map(({ is_winner: isWinner }) => isWinner)).to.deep.equal([false, true, false]);
  });

  it("may be none: the rest gets nothing where that was asked for", async () => {
    const { ended, shown, tests, all } = await tried({ if_undecided: "none" }, () => false);
    expect(shown.winner).to.deep.include({ chosen: null });
    expect(shown.winner?.verdict).to.deep.include({ decided: false, winner: null, reason: "undecided" });
    const rest = all.filter(({ _id }) => !tests.some((one) => one._id === _id));
    expect(rest).not.to.have.length(0);
    for (const row of rest) expect(row).to.include({ status: "suppressed", error_message: "no variant won" });
    expect(ended.counts).to.include({ targeted: 150 });
  });

  it("is waited for by local time: the rest is due by their clocks after the decision", async () => {
    const startedMs = Date.now();
    const { tests, waiting, all, shown } = await tried({}, ({ variant_id: of }) => of === "b", {
      delayed_option: "timezone",
    });
    const sent = tests.filter((row) => row.sent_at !== undefined);
    expect(sent).not.to.have.length(0);
    expect(waiting).not.to.have.length(0);
    for (const { scheduled_for: at } of waiting) // the same time of day, and no sooner than the decision: tomorrow
      expect((at?.getTime() ?? 0) - startedMs).to.be.within(dayMs - 60_000, dayMs + withinMs);
    expect(shown.winner).to.deep.include({ chosen: "b" });
    const rest = all.filter(({ _id }) => !tests.some((one) => one._id === _id));
    expect(new Set(rest.map(({ variant_id: of }) => of))).to.deep.equal(new Set(["b"]));
    expect(all).to.have.length(150);
  });

  it("by the rule bandit is sent more and more: each step by weights that follow what was opened", async () => {
    const { devices, ended, tests, all, shown } = await tried({ rule: "bandit" }, ({ variant_id: of }) => of === "b");
    expect(shown.winner).to.deep.include({ rule: "bandit", chosen: "b" });
    expect(shown.winner?.verdict).to.deep.include({ decided: true, winner: "b", biased: true });
    const weights = shown.winner?.steps?.["1"] ?? [];
    expect(weights[0]).to.be.closeTo(1, 0.1);
    expect(weights[1]).to.be.closeTo(99, 0.1);
    const rest = devices.filter(({ _id }) => !tests.some(({ subscription_id: of }) => of === _id));
    expect(rest).not.to.have.length(0);
    for (const { _id, user_id: person } of rest) {
      const row = all.find(({ subscription_id: of }) => of === _id);
      expect(row?.variant_id).to.equal("ab"[drawnBy(ended._id, weights, person)]);
      expect(row?.sent_at).not.to.equal(undefined);
    }
  });
});
