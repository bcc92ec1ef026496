import { expect } from "chai";
import { isInTest, variantOf } from "#core/domain/experiments/assignment.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { resultOf } from "../../../../dispatcher/messages/delivery/delivery-row.ts";
import { aMessage, anAttempt, aSubscription } from "../../../support/rows/work.ts";
import { usePipelines } from "../../../support/system/pipelines.ts";
import { aToken } from "../../../support/system/sending.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe("an optimised message", () => {
  const { db, goAhead, aDispatcher, stored } = usePipelines("optimized", 50);
  const now = new Date();
  const hourIn = (hours: number): number => new Date(now.getTime() + hours * hourMs).getUTCHours();

  const device = (name: string): SubscriptionRow =>
    aSubscription({ _id: `sub_${name}`, user_id: `usr_${name}`, token: aToken(), last_active_at: new Date(0) });
  /** Deliveries of earlier messages that the owner of a device opened at an hour of the day. */
  const openedAt = (subscription: SubscriptionRow, hours: number, count: number): DeliveryRow[] =>
    Array.from({ length: count }, (_, n) => {
      const opened_at = new Date(now.getTime() + hours * hourMs - (n + 2) * dayMs);
      const sent = resultOf({ kind: "sent", providerId: null }, anAttempt({ subscription, now: opened_at }));
      if (sent.kind !== "final") throw new Error("it is sent");
      return { ...sent.row, _id: `dlv_${subscription._id}_${n}`, message_id: `msg_${n}`, status: "opened", opened_at };
    });
  const messages = () => db().collection<MessageRow>(messageCollection.name);
  const chunksOf = (message_id: string, status: ChunkRow["status"]) =>
    collectionOf<ChunkRow>(db(), chunkCollection).find({ message_id, status }).toArray();

  it("reaches each in the hour in which they read, a control in that of all, and says what that gained", async () => {
    const [morning, evening, unknown] = [device("morning"), device("evening"), device("unknown")];
    const others = Array.from({ length: 10 }, (_, n) => device(`other_${n}`));
    const devices = [morning, evening, unknown, ...others];
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(devices);
    await collectionOf<DeliveryRow>(db(), deliveryCollection).insertMany([
      ...openedAt(morning, 3, 6),
      ...openedAt(evening, 12, 6),
      ...others.flatMap((one) => openedAt(one, 6, 5)),
    ]);
    const id = "msg_best";
    const options = { delayed_option: "optimized" as const, optimized_control_percent: 50 };
    const target = { include_subscription_ids: devices.map(({ _id }) => _id) };
    await messages().insertOne(aMessage({ _id: id, target, options, fence: 0, created_at: now }));
    await aDispatcher().plan(id, 1);
    expect((await messages().findOne({ _id: id }))?.common_hour).to.equal(hourIn(6));
    const waiting = await chunksOf(id, "scheduled");
    const hourOf = new Map(
      waiting.flatMap((one) => one.recipients.map((to) => [to, one.scheduled_for?.getUTCHours()])),
    );
    const timingOf = new Map(waiting.flatMap((one) => one.recipients.map((to) => [to, one.timing])));
    expect([...timingOf.keys()]).to.have.members(devices.map(({ _id }) => _id));
    for (const [one, hours] of [
      [morning, 3],
      [evening, 12],
    ] as const) {
      const isControl = timingOf.get(one._id) === "control";
      expect(hourOf.get(one._id), one._id).to.equal(hourIn(isControl ? 6 : hours));
    }
    for (const one of [unknown, ...others]) expect(hourOf.get(one._id)).to.equal(hourIn(6));
    expect(new Set(timingOf.values())).to.deep.equal(new Set(["optimized", "control"]));
    expect(
      (await stored("best")).every(({ status, timing }) => status === "scheduled" && timing !== undefined),
    ).to.equal(true);
    goAhead(dayMs + hourMs);
    await aDispatcher().plan(id, 1);
    for (let left = await chunksOf(id, "open"); left.length > 0; left = await chunksOf(id, "open")) {
      for (const { _id } of left) await aDispatcher().deliver(_id);
      await aDispatcher().plan(id, 1);
    }
    const ended = await messages().findOne({ _id: id });
    expect(ended).to.include({ status: "completed" });
    const { optimized, control } = ended?.timing_counts ?? { optimized: {}, control: {} };
    expect((optimized.sent ?? 0) + (control.sent ?? 0)).to.equal(devices.length);
    expect(control.sent).to.equal([...timingOf.values()].filter((one) => one === "control").length);
  });

  it("with a winner reaches who tries the variants in their hour, and the rest in theirs from the decision on", async () => {
    const [early, late] = [3, 8].map((hours) => ({
      hours,
      devices: Array.from({ length: 12 }, (_, n) => device(`hour_${hours}_${n}`)),
    })) as [Hour, Hour];
    const devices = [...early.devices, ...late.devices];
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(devices);
    for (const { hours, devices: some } of [early, late])
      await collectionOf<DeliveryRow>(db(), deliveryCollection).insertMany(
        some.flatMap((one) => openedAt(one, hours, 6)),
      );
    const id = "msg_won";
    const variants = ["a", "b"].map((one) => ({
      id: one,
      name: one,
      weight_percent: 50,
      is_control: false,
      content: { contents: { en: one } },
    }));
    const decidesAt = new Date(now.getTime() + 5 * hourMs);
    const winner = {
      metric: "open_rate" as const,
      after_minutes: 300,
      test_percent: 50,
      rule: "fixed" as const,
      min_per_variant: 1,
      if_undecided: "first" as const,
      decides_at: decidesAt,
    };
    const options = { delayed_option: "optimized" as const, optimized_control_percent: 0 };
    const target = { include_subscription_ids: devices.map(({ _id }) => _id) };
    await messages().insertOne(aMessage({ _id: id, target, options, variants, winner, fence: 0, created_at: now }));
    await aDispatcher().plan(id, 1);
    const dueOf = new Map(
      (await chunksOf(id, "scheduled")).flatMap((one) => one.recipients.map((to) => [to, one.scheduled_for])),
    );
    const isTest = ({ user_id: person }: SubscriptionRow): boolean => isInTest(id, 50, person);
    for (const { hours, devices: some } of [early, late])
      for (const one of some) {
        const at = dueOf.get(one._id) ?? new Date(0);
        expect(at.getUTCHours(), one._id).to.equal(hourIn(hours));
        const isTomorrow = !isTest(one) && hours === early.hours; // their hour is over when it is decided
        expect(at.getTime() - now.getTime() > dayMs, one._id).to.equal(isTomorrow);
        expect(at >= decidesAt, one._id).to.equal(!isTest(one) || hours === late.hours);
      }
    expect(new Set(devices.map(isTest))).to.deep.equal(new Set([true, false]));
    for (const hours of [4, 9, 28]) {
      goAhead(hours * hourMs);
      await aDispatcher().plan(id, 1);
      for (let left = await chunksOf(id, "open"); left.length > 0; left = await chunksOf(id, "open")) {
        for (const { _id } of left) await aDispatcher().deliver(_id);
        await aDispatcher().plan(id, 1);
      }
    }
    const ended = await messages().findOne({ _id: id });
    expect(ended).to.include({ status: "completed" });
    expect(ended?.winner).to.include({ chosen: "a" });
    const shares = variants.map((one) => ({ ...one }));
    for (const row of await stored("won")) {
      const one = devices.find(({ _id }) => _id === row.subscription_id) as SubscriptionRow; // it was sent to these
      expect(row).to.include({ status: "sent", timing: "optimized" });
      expect(row.variant_id).to.equal(isTest(one) ? variantOf(id, shares, one.user_id)?.id : "a");
    }
  });
});

type Hour = { hours: number; devices: SubscriptionRow[] };
