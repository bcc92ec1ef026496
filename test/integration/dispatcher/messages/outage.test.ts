import { expect } from "chai";
import { type ChunkRow, chunkCollection } from "#core/storage/messages/chunks.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { refusedAppId, usePipelines } from "../../../support/system/pipelines.ts";

const minuteMs = 60_000;

describe("a provider that is down for an hour", () => {
  const { db, simulator, goAhead, aDispatcher, seeded, queued, stored } = usePipelines("outage", 200);

  /** Runs every retry in the order in which they fall due, the clock going ahead to each, up to `untilMs` from the start. */
  const runUntil = async (dispatcher: ReturnType<typeof aDispatcher>, beganMs: number, untilMs: number) => {
    const next = () =>
      collectionOf<ChunkRow>(db(), chunkCollection).findOne(
        { status: "open", attempt: { $gt: 0 }, due_at: { $lte: new Date(beganMs + untilMs) } },
        { sort: { due_at: 1 } },
      );
    let runs = 0;
    for (let chunk = await next(); chunk !== null; chunk = await next()) {
      if (++runs > 200) throw new Error("retries fall apart into ever more chunks");
      goAhead(Math.max(0, (chunk.due_at?.getTime() ?? 0) - beganMs) + 1_000);
      await dispatcher.deliver(chunk._id);
    }
  };

  it("gets everything that is inside its ttl, once, when it is back, and nothing that is older", async () => {
    const ids = await seeded("hour", 120);
    const dispatcher = aDispatcher();
    const beganMs = Date.now();
    simulator().script({ answers: [{ status: 503, reason: "ServiceUnavailable" }] });
    await dispatcher.deliver(await queued("day", ids, { options: { ttl: 86_400 } }));
    await dispatcher.deliver(await queued("half", ids, { options: { ttl: 1_800 } }));
    await runUntil(dispatcher, beganMs, 60 * minuteMs);
    const { received: refused, accepted: early } = simulator().log.counts();
    expect(early).to.equal(0);
    expect(refused, "asked in vain").to.be.below(2 * ids.length); // the others were answered by the breaker

    simulator().script({});
    await runUntil(dispatcher, beganMs, 24 * 60 * minuteMs);
    expect((await stored("day")).map(({ status }) => status)).to.deep.equal(ids.map(() => "sent"));
    expect((await stored("half")).map(({ status }) => status)).to.deep.equal(ids.map(() => "expired"));
    const all = { received: refused + 120, accepted: 120, addresses: 120, repeated_keys: 0 };
    expect(simulator().log.counts()).to.include(all);
  });
});

describe("an app whose credentials are refused", () => {
  const { simulator, aDispatcher, seeded, queued, stored } = usePipelines("refused", 500);

  it("costs its provider what was under way, and another app's sends nothing", async () => {
    const [good, bad] = [await seeded("good", 300), await seeded("bad", 300, refusedAppId)];
    const dispatcher = aDispatcher();
    const theirs = dispatcher.deliver(await queued("bad", bad, { app_id: refusedAppId }));
    await dispatcher.deliver(await queued("good", good, {}));
    await theirs;
    expect((await stored("good")).map(({ status }) => status)).to.deep.equal(good.map(() => "sent"));
    const codes = (await stored("bad")).map(({ error_code: code }) => code);
    expect(codes).to.deep.equal(bad.map(() => "PROVIDER_AUTH"));
    const { received, accepted } = simulator().log.counts();
    expect(accepted).to.equal(300);
    expect(received - accepted, "refused").to.be.within(1, 70); // 64 are under way when the first answer comes
  });
});
