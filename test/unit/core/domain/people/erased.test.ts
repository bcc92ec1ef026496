import { expect } from "chai";
import { erasedBody, erasedSubject } from "#core/domain/people/erased.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";

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
const erase = (event: object, people: string[] = ["usr_1"]) => {
  const body = erasedBody({ text: JSON.stringify(event), people }, who);
  return body && { ...body, event: JSON.parse(body.text) };
};

describe("the erased body of a webhook", () => {
  it("keeps what happened and when, and says that it is erased", () => {
    const { data: _, ...rest } = anEvent();
    expect(erase(anEvent())?.event).to.deep.equal({ ...rest, data: {}, erased: true });
    expect(erase(anEvent())?.people).to.deep.equal([]);
  });

  it("stays the same when it is erased again", () => {
    const once = erase(anEvent())?.event;
    expect(erase(once)?.event).to.deep.equal(once);
  });

  it("loses an event that has an id of ours of the person, whenever it happened", () => {
    expect(erase(anEvent({ timestamp: after }))?.event.data).to.deep.equal({});
  });

  it("loses a text that was cut and no longer names the person", () => {
    expect(erase(anEvent({ data: { content: "Hello A…" } }), ["external_id:ada"])?.event.data).to.deep.equal({});
  });

  it("of a batch loses the person's events only", () => {
    const other = anEvent({ id: "evt_2", data: { user_id: "usr_2", external_id: "bob" } });
    const batch = { id: "bat_1", type: "batch", timestamp: after, app_id: "app_1", events: [anEvent(), other] };
    const once = erase(batch, ["usr_1", "usr_2"]);
    expect(once?.event).to.deep.equal({ ...batch, events: [erase(anEvent())?.event, other] });
    expect(once?.people).to.deep.equal(["usr_2", "external_id:bob"]);
    expect(erase(once?.event, ["usr_1", "usr_2"])?.event).to.deep.equal(once?.event);
  });

  it("keeps a subject that is an id of ours, and no id that the app gave", () => {
    expect(erase(anEvent({ type: "event.received", subject_id: "ada" }))?.event.subject_id).to.equal(null);
    expect(erasedSubject("usr_1", who)).to.equal("usr_1");
    expect(erasedSubject(null, who)).to.equal(null);
  });

  const heir = { user_id: "usr_2", external_id: "ada" };
  const others: { it: string; event: object; people: string[] }[] = [
    { it: "another's", event: anEvent({ data: { user_id: "usr_2" } }), people: ["usr_2"] },
    {
      it: "one about whoever got the external id after the deletion",
      event: anEvent({ timestamp: after, data: heir }),
      people: ["usr_2", "external_id:ada"],
    },
    {
      it: "a batch of such",
      event: { id: "bat_1", type: "batch", events: [anEvent({ timestamp: after, data: heir })] },
      people: ["usr_2", "external_id:ada"],
    },
  ];
  for (const { it: name, event, people } of others) {
    it(`is none when it is ${name}`, () => expect(erase(event, people)).to.equal(null));
  }
});
