import { isUtf8 } from "node:buffer";
import { expect } from "chai";
import * as fc from "fast-check";
import { maxEventBytes, textWithin } from "#core/domain/events/text.ts";
import { derivedIdAt } from "#core/domain/ids.ts";
import { batchesOf } from "#core/domain/webhooks/body.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { inSuite } from "../../../../support/suite/soak.ts";

const anEvent = (data: Record<string, unknown>, id = "evt_1"): EventEnvelope => ({
  id,
  type: "message.queued",
  timestamp: "2026-11-21T12:00:00.000Z",
  app_id: "app_1",
  subject_id: "msg_1",
  api_version: "1.0",
  data,
});

type Sent = EventEnvelope & { truncated?: boolean };

const sent = (data: Record<string, unknown>): Sent => JSON.parse(textWithin(anEvent(data))) as Sent;

const deepList = (depth: number): unknown => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value;
};

/** Data of every shape that is near or above the limit: long and many texts, names, numbers, levels, members. */
const anyData = (): fc.Arbitrary<Record<string, unknown>> => {
  const long = fc
    .tuple(fc.string({ unit: "binary", maxLength: 80 }), fc.integer({ min: 1, max: 1500 }))
    .map(([piece, times]) => piece.repeat(times));
  const half = fc.constantFrom("\ud800", "a\udfff", "\\ud800", "\udc00\ud800");
  const numbers = fc
    .tuple(fc.double({ noNaN: true }), fc.integer({ min: 0, max: 9_000 }))
    .map(([n, of]) => Array(of).fill(n));
  const texts = fc.tuple(long, fc.integer({ min: 0, max: 60 })).map(([text, of]) => Array(of).fill(text));
  const members = fc
    .tuple(fc.string({ maxLength: 20 }), fc.integer({ min: 0, max: 6_000 }))
    .map(([name, of]) =>
      Object.fromEntries(Array.from({ length: of }, (_, i) => [`${name}${i}`, i % 2 === 0 ? name : i])),
    );
  const deep = fc.integer({ min: 0, max: 9_000 }).map(deepList);
  const value = fc.oneof(long, half, numbers, texts, members, deep, fc.jsonValue());
  const name = fc.oneof(
    fc.string({ maxLength: 10 }),
    long,
    half,
    fc.constantFrom("__proto__", "constructor", "toJSON"),
  );
  return fc.oneof(fc.dictionary(name, value, { maxKeys: 8 }), members);
};

describe("the text of an event", () => {
  it("is its JSON as it is when it fits", () => {
    const event = anEvent({ name: "x".repeat(60_000) });
    expect(textWithin(event)).to.equal(JSON.stringify(event));
    expect(textWithin(anEvent({ name: "é😀" }))).to.equal(JSON.stringify(anEvent({ name: "é😀" })));
  });

  it("has its longest texts cut to one length when it is too large, and says so", () => {
    const body = textWithin(anEvent({ long: "x".repeat(100_000), other: ["y".repeat(90_000)], short: "kept" }));
    const { truncated, data } = JSON.parse(body) as {
      truncated: boolean;
      data: { long: string; other: string[]; short: string };
    };
    expect(truncated).to.equal(true);
    expect(data.short).to.equal("kept");
    expect(data.long.length).to.equal(data.other[0]?.length);
    expect(Buffer.byteLength(body)).to.be.within(maxEventBytes - 10, maxEventBytes);
  });

  it("loses the largest members when cutting texts does not suffice, and only those", () => {
    const { data, truncated } = sent({
      few: [1, 2],
      list: Array(40_000).fill(1),
      text: "z".repeat(70_000),
      name: "kept",
    });
    expect(truncated).to.equal(true);
    expect(Object.keys(data)).to.deep.equal(["few", "text", "name"]);
    expect(data).to.include({ name: "kept" });
    expect(data["text"]).to.have.lengthOf.above(65_000);
  });

  it("loses the last of many small members", () => {
    const { data } = sent(Object.fromEntries(Array.from({ length: 9_000 }, (_, i) => [`name${10_000 + i}`, i])));
    const names = Object.keys(data);
    expect(names.length).to.be.within(3_500, 5_000);
    expect([names[0], names.at(-1)]).to.deep.equal(["name10000", `name${10_000 + names.length - 1}`]);
  });

  it("has no data that is nested too deeply to be written", () => {
    expect(sent({ deep: deepList(100_000) })).to.deep.include({ data: {}, truncated: true });
    expect(sent({ deep: deepList(500) }).data).to.deep.equal({ deep: deepList(500) });
  });

  it("leaves no half of a character, neither by a cut nor as it came, and nothing else is changed", () => {
    expect(sent({ long: "😀".repeat(40_000) }).data["long"]).to.satisfy((text: string) => text.isWellFormed());
    const { data } = sent({ a: "x\ud800y", "\udfff": "😀", b: "\\ud800", c: "\\\\\ud800", d: "\\" });
    expect(data).to.deep.equal({ a: "x\ufffdy", "\ufffd": "😀", b: "\\ud800", c: "\\\\\ufffd", d: "\\" });
  });

  it("is valid JSON in UTF-8 of at most 65,536 bytes, whatever the data, and the same each time", () => {
    fc.assert(
      fc.property(anyData(), (data) => {
        const text = textWithin(anEvent(data));
        expect(Buffer.byteLength(text)).to.be.at.most(maxEventBytes);
        expect(isUtf8(Buffer.from(text)) && text.isWellFormed() && !/(?<!\\)(\\\\)*\\ud[89a-f]/.test(text)).to.equal(
          true,
        );
        expect(JSON.parse(text)).to.include({ id: "evt_1", type: "message.queued", subject_id: "msg_1" });
        expect(textWithin(anEvent(data))).to.equal(text);
      }),
      { numRuns: inSuite(20, { soak: 200 }) },
    );
  }).timeout(120_000);
});

describe("batches of events", () => {
  const events = (count: number, data: Record<string, unknown> = {}): EventEnvelope[] =>
    Array.from({ length: count }, (_, i) => anEvent(data, `evt_${i}`));

  it("have at most 100 events each, in order, with an id that follows from their events'", () => {
    const batches = batchesOf(events(250));
    expect(batches.map(({ envelope }) => envelope.events.length)).to.deep.equal([100, 100, 50]);
    expect(batches.flatMap(({ envelope }) => envelope.events)).to.deep.equal(events(250));
    const at = new Date("2026-11-21T12:00:00.000Z");
    const ids = events(250).map(({ id }) => id);
    expect(batches[2]?.envelope).to.include({
      id: derivedIdAt("batch", at, ...ids.slice(200)),
      type: "batch",
      timestamp: at.toISOString(),
      app_id: "app_1",
    });
    expect(batchesOf(events(250)).map(({ text }) => text)).to.deep.equal(batches.map(({ text }) => text));
  });

  it("of nothing are none", () => {
    expect(batchesOf([])).to.deep.equal([]);
  });

  it("are filled up to 65,536 bytes", () => {
    const batches = batchesOf(events(100, { text: "é".repeat(1_000) }));
    expect(batches.map(({ envelope }) => envelope.events.length)).to.deep.equal([30, 30, 30, 10]);
    expect(Buffer.byteLength(batches[0]?.text ?? "")).to.be.within(maxEventBytes - 2_500, maxEventBytes);
  });

  it("leave an event that fits into none alone, and cut", () => {
    const large = anEvent({ text: "x".repeat(65_350) }, "evt_large");
    const batches = batchesOf([anEvent({}), large, anEvent({}, "evt_2")]);
    expect(batches.map(({ envelope }) => envelope.events.map(({ id }) => id))).to.deep.equal([
      ["evt_1"],
      ["evt_large"],
      ["evt_2"],
    ]);
    expect(Buffer.byteLength(textWithin(large))).to.be.at.most(maxEventBytes);
    expect(textWithin(large)).to.equal(JSON.stringify(large));
    expect(batches[1]?.envelope.events[0]).to.include({ truncated: true });
  });

  it("are each a valid text of its envelope within the bounds, whatever the events", () => {
    const given = fc
      .array(anyData(), { maxLength: 12 })
      .map((list) => list.map((data, i) => anEvent(data, `evt_${i}`)));
    fc.assert(
      fc.property(given, (list) => {
        const batches = batchesOf(list);
        for (const { envelope, text } of batches) {
          expect(Buffer.byteLength(text)).to.be.at.most(maxEventBytes);
          const { events: parsed, ...head } = JSON.parse(text) as typeof envelope;
          expect({ ...head, ids: parsed.map(({ id }) => id) }).to.deep.equal({
            id: envelope.id,
            type: "batch",
            timestamp: envelope.timestamp,
            app_id: "app_1",
            ids: envelope.events.map(({ id }) => id),
          });
        }
        expect(batches.flatMap(({ envelope }) => envelope.events.map(({ id }) => id))).to.deep.equal(
          list.map(({ id }) => id),
        );
      }),
      { numRuns: inSuite(6, { soak: 60 }) },
    );
  }).timeout(120_000);
});
