import { expect } from "chai";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { badges } from "#core/storage/people/badges.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { usePipelines } from "../../../support/system/pipelines.ts";
import { until } from "../../../support/until.ts";

const busy = { status: 503, reason: "ServiceUnavailable" };

describe("pushes that count or replace", () => {
  const { db, simulator, aDispatcher, seeded, queued, stored } = usePipelines("push_members", 50);

  const rowsOfPeople = () => db().collection<SubscriptionRow>(subscriptionCollection.name);

  const retriesOf = (id: string): Promise<ChunkRow[]> =>
    collectionOf<ChunkRow>(db(), chunkCollection)
      .find({ message_id: `msg_${id}`, attempt: { $gt: 0 }, status: "open" })
      .toArray();
  const runRetries = async (id: string, dispatcher = aDispatcher()): Promise<void> => {
    for (const { _id } of await retriesOf(id)) await dispatcher.deliver(_id);
  };
  const badgesSent = (): number[] =>
    simulator()
      .log.page()
      .filter(({ accepted }) => accepted)
      .map(({ body }) => (JSON.parse(body) as { aps: { badge: number } }).aps.badge);

  describe("a badge", () => {
    const increase = (by: number) => ({
      content: { contents: { en: "x" }, ios_badge_type: "Increase" as const, ios_badge_count: by },
    });
    const badgesOf = async (ids: string[]): Promise<(number | undefined)[]> =>
      (
        await rowsOfPeople()
          .find({ _id: { $in: ids } })
          .toArray()
      ).map(({ badge }) => badge);

    it("grows once for each delivery, whatever is tried again and whoever is killed meanwhile", async () => {
      const ids = await seeded("badge", 100);
      const chunkId = await queued("badge1", ids, increase(1));
      simulator().script({ answers: [{ ...busy, times: 30 }], delay_ms: 50 });
      const cut = new AbortController();
      const killed = aDispatcher("killed", cut.signal).deliver(chunkId);
      await until(() => simulator().log.counts().received > 35);
      cut.abort();
      await killed;
      simulator().script({});
      await aDispatcher("next").deliver(chunkId);
      await runRetries("badge1");
      expect(await badgesOf(ids)).to.deep.equal(ids.map(() => 1));
      expect(new Set(badgesSent())).to.deep.equal(new Set([1]));
      expect(await stored("badge1")).to.have.length(ids.length);

      simulator().log.clear();
      await aDispatcher().deliver(await queued("badge2", ids, increase(2)));
      expect(badgesSent()).to.deep.equal(ids.map(() => 3));
    });

    it("shows in a retry what others have added by then", async () => {
      const ids = await seeded("later", 1);
      const first = await queued("later1", ids, increase(1));
      simulator().script({ answers: [{ ...busy, times: 1 }] });
      await aDispatcher().deliver(first);
      await aDispatcher().deliver(await queued("later2", ids, increase(1)));
      await runRetries("later1");
      expect(badgesSent()).to.deep.equal([2, 2]);
    });

    it("goes on from what was set", async () => {
      const ids = await seeded("set", 3);
      const set = { content: { contents: { en: "x" }, ios_badge_count: 5 } };
      await aDispatcher().deliver(await queued("set1", ids, set));
      await aDispatcher().deliver(await queued("set2", ids, increase(1)));
      expect(badgesSent()).to.deep.equal([5, 5, 5, 6, 6, 6]);
    });

    it("is not added to again by a retry, however many messages have added to it meanwhile", async () => {
      const ids = await seeded("many", 1);
      simulator().script({ answers: [{ ...busy, times: 1 }] });
      await aDispatcher().deliver(await queued("many1", ids, increase(1)));
      for (let n = 0; n < 40; n++) await badges(db())(`msg_many_${n}`, ids, { add: 1 });
      await runRetries("many1");
      expect(badgesSent()).to.deep.equal([41]);
      const [row] = await rowsOfPeople()
        .find({ _id: { $in: ids } })
        .toArray();
      expect(row?.badge_counted).to.have.length(32);
    });

    it("is added to once by a message that ten dispatchers run at the same time", async () => {
      const ids = await seeded("once", 20);
      const change = badges(db());
      const shown = await Promise.all(Array.from({ length: 10 }, () => change("msg_once", ids, { add: 4 })));
      for (const one of shown) expect([...one.values()]).to.deep.equal(ids.map(() => 4));
      expect(await badgesOf(ids)).to.deep.equal(ids.map(() => 4));
    });
  });

  describe("a collapse id", () => {
    const score = { options: { collapse_id: "score" } };

    it("has a newer push take the place of one that waits, which is not sent any more", async () => {
      const [both = "", onlyFirst = ""] = await seeded("waits", 2);
      simulator().script({ answers: [{ ...busy, times: 2 }] });
      await aDispatcher().deliver(await queued("waits1", [both, onlyFirst], score));
      await aDispatcher().deliver(await queued("waits2", [both], score));
      const { received } = simulator().log.counts();
      await runRetries("waits1");
      expect(simulator().log.counts().received).to.equal(received + 1);
      const rows = new Map((await stored("waits1")).map((row) => [row.subscription_id, row]));
      expect(rows.get(both)).to.include({
        status: "suppressed",
        suppression_reason: "superseded",
        error_code: "SUPERSEDED",
      });
      expect(rows.get(onlyFirst)).to.include({ status: "sent" });
    });

    it("has a newer one that waits itself take its place, and the newer one is sent", async () => {
      const ids = await seeded("queue", 3);
      simulator().script({ answers: [busy] });
      await aDispatcher().deliver(await queued("queue1", ids, score));
      await aDispatcher().deliver(await queued("queue2", ids, score));
      simulator().script({});
      await runRetries("queue1");
      await runRetries("queue2");
      expect((await stored("queue1")).map(({ error_code: code }) => code)).to.deep.equal(ids.map(() => "SUPERSEDED"));
      expect((await stored("queue2")).map(({ status }) => status)).to.deep.equal(ids.map(() => "sent"));
    });

    it("has a newer one take the place of one that was being handed over when it came", async () => {
      const ids = await seeded("flight", 1);
      simulator().script({ answers: [{ ...busy, times: 1 }], delay_ms: 1_000 });
      const first = aDispatcher("first").deliver(await queued("flight1", ids, score));
      await until(() => simulator().log.counts().received === 1);
      await aDispatcher("second").deliver(await queued("flight2", ids, score));
      await first;
      await runRetries("flight1");
      expect((await stored("flight1"))[0]).to.include({ error_code: "SUPERSEDED" });
    });

    it("leaves alone what has another one, or none, or was sent before it began", async () => {
      const ids = await seeded("other", 1);
      await aDispatcher().deliver(await queued("other9", ids, score));
      simulator().script({ answers: [{ ...busy, times: 3 }] });
      for (const [id, change] of [
        ["other1", {}],
        ["other2", { options: { collapse_id: "other" } }],
        ["other3", { ...score, started_at: new Date(Date.now() + 1_000) }],
      ] as const)
        await aDispatcher().deliver(await queued(id, ids, change));
      for (const id of ["other1", "other2", "other3"]) {
        await runRetries(id);
        expect((await stored(id))[0], id).to.include({ status: "sent" });
      }
    });

    it("has a push sent again whose answer was lost", async () => {
      const ids = await seeded("lost", 1);
      simulator().script({ reset_every: 1 });
      await aDispatcher().deliver(await queued("lost1", ids, score));
      expect(await stored("lost1")).to.deep.equal([]);
      simulator().script({});
      await runRetries("lost1");
      expect((await stored("lost1"))[0]).to.include({ status: "sent", attempts: 2 });
      expect((await stored("lost1"))[0]).not.to.have.property("uncertain");
    });

    it("leaves one uncertain whose answer was lost, when a newer one takes its place", async () => {
      const ids = await seeded("doubt", 1);
      simulator().script({ reset_every: 1 });
      await aDispatcher().deliver(await queued("doubt1", ids, score));
      simulator().script({});
      await aDispatcher().deliver(await queued("doubt2", ids, score));
      const { received } = simulator().log.counts();
      await runRetries("doubt1");
      expect(simulator().log.counts().received).to.equal(received);
      expect((await stored("doubt1"))[0]).to.include({ status: "sent", uncertain: true, attempts: 1 });
    });
  });
});
