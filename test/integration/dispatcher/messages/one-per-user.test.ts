import { expect } from "chai";
import { type ChoiceRow, choiceCollection } from "#core/storage/messages/choices.ts";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { aMessage, aSubscription } from "../../../support/rows/work.ts";
import { usePipelines } from "../../../support/system/pipelines.ts";
import { aToken } from "../../../support/system/sending.ts";

describe("a message that reaches each person once", () => {
  const { db, simulator, aDispatcher, stored } = usePipelines("one_per_user", 50);
  const gone = "dead";

  const device = (name: string, user: string, minute: number, token = aToken()): SubscriptionRow =>
    aSubscription({
      _id: `sub_${name}_${user}_${minute}`,
      user_id: `usr_${name}_${user}`,
      app_id: `app_1`,
      token,
      last_active_at: new Date(Date.UTC(2026, 1, 1, 0, minute)),
    });
  const dead = (): string => gone + aToken().slice(gone.length);

  const written = async (
    name: string,
    devices: SubscriptionRow[],
    change: Partial<MessageRow> = {},
  ): Promise<string> => {
    await db().collection<SubscriptionRow>(subscriptionCollection.name).insertMany(devices);
    const ids = { include_subscription_ids: devices.map(({ _id }) => _id) };
    const message = aMessage({ _id: `msg_${name}`, target: ids, options: { one_per_user: true }, fence: 0, ...change });
    await db().collection<MessageRow>(messageCollection.name).insertOne(message);
    return message._id;
  };

  const becameOf = async (name: string): Promise<Record<string, string>> =>
    Object.fromEntries(
      (await stored(name)).map(({ subscription_id: id, status, suppression_reason: reason }) => [id, reason ?? status]),
    );
  const waiting = async (name: string): Promise<ChunkRow[]> =>
    collectionOf<ChunkRow>(db(), chunkCollection)
      .find({ message_id: `msg_${name}`, status: "open" })
      .toArray();
  const message = (name: string) =>
    db()
      .collection<MessageRow>(messageCollection.name)
      .findOne({ _id: `msg_${name}` });

  it("goes to the address that was active last, and leaves the others out", async () => {
    const devices = [device("plain", "ada", 1), device("plain", "ada", 2), device("plain", "ben", 1)];
    await aDispatcher().plan(await written("plain", devices), 1);
    expect(await becameOf("plain")).to.deep.equal({
      sub_plain_ada_1: "duplicate_user",
      sub_plain_ada_2: "sent",
      sub_plain_ben_1: "sent",
    });
    expect(await message("plain")).to.deep.include({ status: "completed" });
    expect((await message("plain"))?.counts).to.include({ targeted: 3, sent: 2, suppressed: 1 });
  });

  it("goes to the next address when the first is gone, and counts it as one delivery", async () => {
    const devices = [device("next", "ada", 1), device("next", "ada", 2, dead()), device("next", "ada", 3, dead())];
    simulator().script({ answers: [{ address_prefix: gone, status: 410, reason: "Unregistered" }] });
    const id = await written("next", devices);
    await aDispatcher().plan(id, 1);
    for (let rounds = 0; rounds < 2; rounds++)
      for (const { _id } of await waiting("next")) await aDispatcher().deliver(_id);
    await aDispatcher().plan(id, 1);
    expect(await becameOf("next")).to.deep.equal({
      sub_next_ada_1: "sent",
      sub_next_ada_2: "failed",
      sub_next_ada_3: "failed",
    });
    expect((await stored("next")).map(({ attempts }) => attempts)).to.deep.equal([1, 1, 1]);
    expect((await message("next"))?.counts).to.include({ targeted: 3, sent: 1, failed: 2, suppressed: 0 });
  });

  it("leaves addresses alone that its target does not name", async () => {
    const devices = [device("named", "ada", 1), device("named", "ada", 2)];
    const target = { include_subscription_ids: ["sub_named_ada_1"] };
    await aDispatcher().plan(await written("named", devices, { target }), 1);
    expect(await becameOf("named")).to.deep.equal({ sub_named_ada_1: "sent" });
  });

  it("is decided once for each person, whichever chunk comes first and whatever changes in between", async () => {
    const users = Array.from({ length: 300 }, (_, n) => `u${n}`);
    const devices = users.flatMap((user) => [1, 2, 3].map((minute) => device("many", user, minute)));
    const id = await written("many", devices);
    await aDispatcher().plan(id, 1);
    const [first, ...others] = (await waiting("many")).reverse();
    await aDispatcher("one").deliver(first?._id ?? "");
    await db()
      .collection<SubscriptionRow>(subscriptionCollection.name)
      .updateMany({ _id: /^sub_many_.*_1$/ }, { $set: { last_active_at: new Date() } });
    await Promise.all(others.map(({ _id }, n) => aDispatcher(`two_${n}`).deliver(_id)));
    const rows = await stored("many");
    const sent = rows.filter(({ status }) => status === "sent");
    expect(rows).to.have.length(devices.length);
    expect(new Set(sent.map(({ user_id: userId }) => userId)).size).to.equal(users.length);
    expect(sent).to.have.length(users.length);
    expect(simulator().log.counts()).to.include({ received: users.length });
    const orders = collectionOf<ChoiceRow>(db(), choiceCollection).find({ message_id: id });
    expect(await orders.toArray()).to.have.length(users.length);
  });

  it("goes to one address, also when all wait for their local time and have deliveries until then", async () => {
    const devices = [device("later", "ada", 1), device("later", "ada", 2), device("later", "ben", 1)];
    const time = new Date(Date.now() + 7_200_000).toISOString().slice(11, 19);
    const options = { one_per_user: true, delayed_option: "timezone" as const, delivery_time_of_day: time };
    const now = new Date();
    const id = await written("later", devices, { options, created_at: now, started_at: now });
    await aDispatcher().plan(id, 1);
    expect(Object.values(await becameOf("later"))).to.deep.equal(["scheduled", "scheduled", "scheduled"]);
    const chunks = collectionOf<ChunkRow>(db(), chunkCollection);
    const due = { message_id: id, status: "scheduled", has_rows: true } as const;
    expect((await chunks.updateMany(due, { $set: { status: "open" } })).modifiedCount).to.equal(1);
    for (const { _id } of await waiting("later")) await aDispatcher().deliver(_id);
    expect(await becameOf("later")).to.deep.equal({
      sub_later_ada_1: "duplicate_user",
      sub_later_ada_2: "sent",
      sub_later_ben_1: "sent",
    });
  });
});
