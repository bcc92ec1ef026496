import { expect } from "chai";
import pino from "pino";
import { dayMs } from "#core/domain/durations.ts";
import { type CapQuestion, type CapTakeRow, capTakeCollection, capTakes } from "#core/storage/messages/cap-takes.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { namedLease } from "#core/storage/work/leases.ts";
import { capRemovalMs, pass } from "../../../../dispatcher/clean-up/caps.ts";

import { handClock, noon } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const log = pino({ level: "silent" });
const never = new AbortController().signal;
const people = Array.from({ length: 300 }, (_, n) => `usr_${n}`);

describe("places under frequency caps", () => {
  const db = testDatabase("cap_takes");

  const asked = (appId: string, max: number, message: string, change: Partial<CapQuestion> = {}): CapQuestion => ({
    of: { tenantId: "ten_a", appId },
    message: { id: message, channel: "ios_push", category: null },
    caps: [{ name: "daily", max, per: "day", window: "rolling", scope: "user", channels: null, categories: null }],
    people: people.map((id) => ({ id, since: [new Date(noon.getTime() - dayMs)] })),
    mode: "take",
    now: noon,
    longestMs: 3 * dayMs,
    ...change,
  });
  const takesOf = async (appId: string) =>
    (await collectionOf<CapTakeRow>(db(), capTakeCollection).find({ app_id: appId }).toArray()).map(({ takes }) =>
      takes.map(({ message_id: id }) => id),
    );

  it("are as many as the cap allows to each, of five messages at once", async () => {
    const { take } = capTakes(db());
    const messages = ["msg_1", "msg_2", "msg_3", "msg_4", "msg_5"];
    const full = await Promise.all(messages.map((message) => take(asked("app_a", 2, message))));
    for (const person of people) expect(full.filter((held) => held.has(person))).to.have.length(3);
    const taken = await takesOf("app_a");
    expect(taken).to.have.length(people.length);
    for (const takes of taken) expect(new Set(takes).size, takes.join()).to.equal(2).and.equal(takes.length);
  });

  it("are taken once by a message that asks again, and once on each channel", async () => {
    const { take } = capTakes(db());
    for (const channel of ["ios_push", "ios_push", "email"] as const)
      expect(await take(asked("app_b", 5, "msg_1", { message: { id: "msg_1", channel, category: null } }))).to.be.empty;
    for (const takes of await takesOf("app_b")) expect(takes).to.deep.equal(["msg_1", "msg_1"]);
    expect(await take(asked("app_b", 5, "msg_2"))).to.be.empty;
    expect(await take(asked("app_b", 3, "msg_3"))).to.have.length(people.length);
  });

  it("are free again when the time of a cap is over, though more is kept", async () => {
    const { take } = capTakes(db());
    const at = (days: number, message: string) =>
      take(
        asked("app_c", 2, message, {
          now: new Date(noon.getTime() + days * dayMs),
          people: people.map((id) => ({ id, since: [new Date(noon.getTime() + (days - 1) * dayMs)] })),
        }),
      );
    for (const message of ["msg_1", "msg_2"]) expect(await at(0, message)).to.be.empty;
    expect(await at(0.5, "msg_3")).to.have.length(people.length);
    expect(await at(1.5, "msg_4")).to.be.empty;
  });

  it("are removed once nothing counts any more, a day's look after another", async () => {
    const [takes, clock] = [capTakes(db()), handClock()];
    const rows = collectionOf<CapTakeRow>(db(), capTakeCollection);
    const row = (n: number, endsMs: number): CapTakeRow => ({
      _id: `app_d/${String(n).padStart(5, "0")}`,
      app_id: "app_d",
      takes: [],
      expires_at: new Date(noon.getTime() + endsMs),
    });
    await rows.insertMany(Array.from({ length: 2_200 }, (_, n) => row(n, n % 2 === 0 ? 0 : 1)));
    const left = () => rows.countDocuments({ app_id: "app_d" });
    const look = (holder: string) => {
      const day = namedLease(db(), { name: "cap removal", holder, leaseMs: capRemovalMs, clock });
      return pass({ ...takes, day, clock, log }, never);
    };
    await look("a");
    expect(await left()).to.equal(1_100);
    clock.tick(1);
    await look("b"); // somebody looked on this day
    expect(await left()).to.equal(1_100);
    clock.tick(capRemovalMs);
    await look("b");
    expect(await left()).to.equal(0);
  });

  it("are looked through again by the next pass after one that failed", async () => {
    const clock = handClock();
    const day = namedLease(db(), { name: "cap removal that fails", holder: "a", leaseMs: capRemovalMs, clock });
    let looks = 0;
    const removeExpired = async (): Promise<void> => {
      looks++;
      throw new Error("the store is away");
    };
    for (const _ of [1, 2]) {
      const failed = await pass({ removeExpired, day, clock, log }, never).catch((error: Error) => error);
      expect(failed).to.be.instanceOf(Error);
    }
    expect(looks).to.equal(2);
  });
});
