import { expect } from "chai";
import { sampleEvent } from "#core/domain/events/sample.ts";
import { maxEventBytes } from "#core/domain/events/text.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";

const now = new Date("2026-11-21T12:00:00Z");

describe("the data of events", () => {
  it("is described for exactly the 32 kinds", () => {
    expect(Object.keys(eventTypes))
      .to.have.members([...eventKinds])
      .and.to.have.length(32);
  });

  for (const kind of eventKinds) {
    const { data, example, description } = eventTypes[kind];

    it(`of ${kind} is closed, and its example fits`, () => {
      const parse = parser(data);
      expect(() => parse(example)).not.to.throw();
      expect(() => parse({ ...example, surprise: 1 })).to.throw("surprise");
      expect(description).to.match(/^[A-Z].*\.$/);
    });

    it(`of ${kind} needs each member that its example has`, () => {
      const parse = parser(data);
      for (const name of Object.keys(example)) {
        const { [name]: _, ...rest } = example;
        expect(() => parse(rest), name).to.throw(name);
      }
    });
  }
});

describe("a sample event", () => {
  for (const kind of eventKinds) {
    it(`of ${kind} is an event of the app and fits its schema`, () => {
      const event = sampleEvent(kind, "app_mine", now);
      expect(() => parser(eventTypes[kind].data)(event.data)).not.to.throw();
      expect(event).to.include({ type: kind, app_id: "app_mine", timestamp: now.toISOString(), api_version: "1.0" });
      if ("app_id" in event.data) expect(event.data["app_id"]).to.equal("app_mine");
      expect(JSON.stringify(event).length).to.be.below(maxEventBytes);
    });
  }

  it("names its subject", () => {
    expect(sampleEvent("delivery.sent", "app_1", now).subject_id).to.match(/^dlv_/);
    expect(sampleEvent("audit.created", "app_1", now).subject_id).to.match(/^whk_/);
    expect(sampleEvent("event.received", "app_1", now).subject_id).to.equal("customer-4711");
    expect(sampleEvent("webhook.test", "app_1", now).subject_id).to.equal(null);
  });

  it("is the same each time", () => {
    expect(sampleEvent("user.created", "app_1", now)).to.deep.equal(sampleEvent("user.created", "app_1", now));
  });
});
