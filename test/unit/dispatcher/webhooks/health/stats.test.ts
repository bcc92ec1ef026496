import { expect } from "chai";
import pino from "pino";
import type { WebhookStatsChange } from "#core/storage/webhooks/stats.ts";
import { endpointStats, type StatsSample } from "../../../../../dispatcher/webhooks/health/stats.ts";

const noon = new Date("2026-11-21T12:00:00Z");
const later = (ms: number) => new Date(noon.getTime() + ms);
const aSample = (over: Partial<StatsSample> = {}): StatsSample => ({
  succeeded: true,
  errorClass: null,
  durationMs: 4,
  at: noon,
  ...over,
});

const given = (answers: ((changes: readonly WebhookStatsChange[]) => WebhookStatsChange[])[] = []) => {
  const writes: WebhookStatsChange[][] = [];
  const stats = endpointStats({
    rows: {
      add: async (changes) => {
        writes.push([...changes]);
        return answers.shift()?.(changes) ?? [];
      },
    },
    log: pino({ level: "silent" }),
    everyMs: 60_000,
  });
  return { stats, writes };
};

const away = () => {
  throw new Error("the store is away");
};

describe("the counting of requests", () => {
  it("stores one change for each endpoint and five minutes", async () => {
    const { stats, writes } = given();
    stats.add("whk_a", aSample());
    stats.add("whk_a", aSample({ at: later(299_999), durationMs: 10_002, succeeded: false, errorClass: "timeout" }));
    stats.add("whk_a", aSample({ at: later(300_000) }));
    stats.add("whk_b", aSample());
    await stats.flush();
    expect(writes).to.have.length(1);
    expect(writes[0]).to.have.length(3);
    expect(writes[0]?.[0]).to.deep.equal({
      endpointId: "whk_a",
      start: noon,
      requests: 2,
      succeeded: 1,
      errors: { timeout: 1 },
      last_error: { class: "timeout", at: later(299_999) },
      latency: { 3: 1, 17: 1 },
    });
  });

  it("writes nothing when nothing came", async () => {
    const { stats, writes } = given();
    stats.add("whk_a", aSample());
    await stats.flush();
    await stats.flush();
    expect(writes).to.have.length(1);
  });

  it("keeps what could not be stored, and adds it to what comes after", async () => {
    const { stats, writes } = given([away]);
    stats.add("whk_a", aSample({ succeeded: false, errorClass: "dns" }));
    await stats.flush();
    stats.add("whk_a", aSample({ durationMs: 1 }));
    await stats.flush();
    expect(writes[1]?.[0]).to.deep.include({
      requests: 2,
      succeeded: 1,
      errors: { dns: 1 },
      latency: { 3: 1, 0: 1 },
      last_error: { class: "dns", at: noon },
    });
  });

  it("stores again only what was refused", async () => {
    const { stats, writes } = given([(changes) => changes.slice(1)]);
    stats.add("whk_a", aSample());
    stats.add("whk_b", aSample());
    await stats.flush();
    await stats.flush();
    expect(writes[1]?.map(({ endpointId }) => endpointId)).to.deep.equal(["whk_b"]);
  });

  it("keeps 5,000 counters at most while the store is away", async () => {
    const { stats, writes } = given([away]);
    for (let i = 0; i < 6_000; i++) stats.add(`whk_${i}`, aSample());
    await stats.flush();
    writes.length = 0;
    await stats.flush();
    expect(writes.map((write) => write.length)).to.deep.equal(Array.from({ length: 10 }, () => 500));
  });

  it("stores what is left when the program stops", async () => {
    const { stats, writes } = given([away, () => []]);
    await stats.start(new AbortController().signal);
    stats.add("whk_a", aSample());
    await stats.stop(new AbortController().signal);
    expect(writes.at(-1)).to.have.length(1);
    expect(writes).to.have.length(2);
  });
});
