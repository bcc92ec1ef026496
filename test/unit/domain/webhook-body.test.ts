import { expect } from "chai";
import * as fc from "fast-check";
import { maxWebhookBytes, webhookBody } from "#core/domain/webhook-body.ts";
import type { EventEnvelope } from "#core/schema/event.ts";

const anEvent = (data: Record<string, unknown>): EventEnvelope => ({
  id: "evt_1",
  type: "message.queued",
  timestamp: "2026-11-21T12:00:00.000Z",
  app_id: "app_1",
  subject_id: "msg_1",
  api_version: "1.0",
  data,
});

describe("the body of a webhook", () => {
  it("is the event as it is when it fits", () => {
    const event = anEvent({ name: "x".repeat(60_000) });
    expect(JSON.parse(webhookBody(event))).to.deep.equal(event);
  });

  it("of too large an event has its longest texts cut, and says so", () => {
    const body = webhookBody(anEvent({ long: "x".repeat(100_000), other: ["y".repeat(90_000)], short: "kept" }));
    const { truncated, data } = JSON.parse(body) as {
      truncated: boolean;
      data: { long: string; other: string[]; short: string };
    };
    expect(truncated).to.equal(true);
    expect(data.short).to.equal("kept");
    expect(data.long.length).to.equal(data.other[0]?.length);
    expect(Buffer.byteLength(body)).to.be.within(maxWebhookBytes - 10, maxWebhookBytes);
  });

  it("without a text that could be cut has no data", () => {
    const { data, truncated } = JSON.parse(webhookBody(anEvent({ list: Array(40_000).fill(1) }))) as EventEnvelope & {
      truncated: boolean;
    };
    expect({ data, truncated }).to.deep.equal({ data: {}, truncated: true });
  });

  it("leaves no half of a character", () => {
    const body = webhookBody(anEvent({ long: "😀".repeat(40_000) }));
    expect((JSON.parse(body) as EventEnvelope).data["long"]).to.satisfy((text: string) => text.isWellFormed());
  });

  it("is valid JSON of at most 65,536 bytes, whatever the data", () => {
    const text = fc.string({ unit: "binary", maxLength: 200 }).map((piece) => piece.repeat(400));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.oneof(text, fc.jsonValue()), { maxKeys: 8 }), (data) => {
        const body = webhookBody(anEvent(data));
        expect(Buffer.byteLength(body)).to.be.at.most(maxWebhookBytes);
        expect(JSON.parse(body)).to.include({ id: "evt_1", type: "message.queued" });
      }),
      { numRuns: 60 },
    );
  });
});
