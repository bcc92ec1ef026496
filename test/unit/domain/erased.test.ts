import { expect } from "chai";
import { erasedSubject, erasedText } from "#core/domain/erased.ts";
import type { EventEnvelope } from "#core/schema/event.ts";

const deletedAt = new Date("2026-11-21T12:00:00Z");
const who = { keys: new Set(["usr_1", "external_id:ada", "sub_1"]), at: deletedAt };

const anEvent = (over: Partial<EventEnvelope> = {}): EventEnvelope => ({
  id: "evt_1",
  type: "delivery.sent",
  timestamp: "2026-11-21T11:00:00.000Z",
  app_id: "app_1",
  subject_id: "dlv_1",
  api_version: "1.0",
  data: { user_id: "usr_1", external_id: "ada", address: "secret" },
  ...over,
});
const after = "2026-11-21T12:00:00.001Z";
const erase = (event: object, people: string[] = ["usr_1"]) =>
  JSON.parse(erasedText(JSON.stringify(event), people, who));

describe("the erased body of a webhook", () => {
  it("keeps what happened and when, and says that it is erased", () => {
    const { data: _, ...rest } = anEvent();
    expect(erase(anEvent())).to.deep.equal({ ...rest, data: {}, erased: true });
  });

  it("stays the same when it is erased again", () => {
    const once = erase(anEvent());
    expect(erase(once)).to.deep.equal(once);
  });

  it("loses an event of ours about him whenever it happened", () => {
    expect(erase(anEvent({ timestamp: after })).data).to.deep.equal({});
  });

  it("keeps an event about whoever got his external id after the deletion", () => {
    const event = anEvent({ timestamp: after, data: { user_id: "usr_2", external_id: "ada" } });
    expect(erase(event, ["usr_2", "external_id:ada"])).to.deep.equal(event);
  });

  it("keeps other people's events", () => {
    const event = anEvent({ data: { user_id: "usr_2" } });
    expect(erase(event, ["usr_2"])).to.deep.equal(event);
  });

  it("loses a text that was cut and no longer names him", () => {
    expect(erase(anEvent({ data: { content: "Hello A…" } }), ["external_id:ada"]).data).to.deep.equal({});
  });

  it("of a batch loses his events only", () => {
    const other = anEvent({ id: "evt_2", data: { user_id: "usr_2", external_id: "bob" } });
    const batch = { id: "bat_1", type: "batch", timestamp: after, app_id: "app_1", events: [anEvent(), other] };
    expect(erase(batch, ["usr_1", "usr_2"])).to.deep.equal({ ...batch, events: [erase(anEvent()), other] });
  });

  it("has no subject that the app named him by, but one of ours", () => {
    expect(erase(anEvent({ type: "event.received", subject_id: "ada" })).subject_id).to.equal(null);
    expect(erasedSubject("usr_1", who)).to.equal("usr_1");
    expect(erasedSubject(null, who)).to.equal(null);
  });
});
