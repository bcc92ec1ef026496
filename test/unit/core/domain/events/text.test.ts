import { expect } from "chai";
import { receive } from "#core/domain/events/custom.ts";
import { makeEvent } from "#core/domain/events/make.ts";
import { maxEventBytes, textWithin } from "#core/domain/events/text.ts";
import { messageEventData } from "#core/domain/messages/views.ts";
import { userCreated, userUpdated } from "#core/domain/people/events.ts";
import { eventText } from "#core/queue/events.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { auditEvents } from "../../../../../apiserver/settings/audit.ts";
import { aSubscription, aUser } from "../../../../support/rows/fixtures.ts";
import { aMessage, noon } from "../../../../support/rows/work.ts";

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

/** Texts that are largest in JSON: each character takes six bytes. */
const control = (characters: number): string => "\u0001".repeat(characters);
const numbered = <T>(count: number, value: (n: number) => T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`name-${n}`, value(n)]));

const of = { tenant_id: "ten_1", app_id: "app_1" };
const largeUser = aUser({
  ...of,
  external_id: `ext-${control(250)}`,
  tags: numbered(userLimits.tags, () => control(1_024)),
  properties: { text: "é".repeat(userLimits.propertyCharacters) },
  changed: Array.from({ length: 400 }, (_, n) => `tags.${control(120)}${n}`),
});
const ids = Array.from({ length: 2_000 }, (_, n) => `${"é".repeat(250)}${n}`);
const largeMessage = aMessage({
  content: { contents: { en: "é".repeat(20_000) } },
  target: { include_external_ids: ids, include_aliases: { crm: ids } },
});

/** What the event of a change says of two large schemas. */
const audited = async (): Promise<EventEnvelope> => {
  const text = control(activityLimits.textCharacters);
  const schema = numbered(activityLimits.properties, () => ({ type: "string", enum: [text, text] })); // 2 MB of JSON, as a body may have
  const changes = { content_state_schema: { before: schema, after: schema } };
  const fact = {
    tenantId: "ten_1",
    appId: "app_1",
    actor: { type: "api_key", id: "key_1" },
    action: "a",
    ip: "",
    requestId: "r-1",
  } as const;
  let written = "";
  const audit = auditEvents({
    prepare: async ({ events }) => {
      written = events[0]?.text ?? "";
      return { changeId: "evb_1", publish: async () => undefined, withdraw: () => undefined };
    },
    clock: { now: () => noon },
  });
  const change = { collection: "live_activity_types", document_id: "lat_1", kind: "changed" } as const;
  await audit(
    { fact: { ...fact, target: { type: "live_activity_type", id: "lat_1" }, changes }, change },
    async () => 1,
  );
  return JSON.parse(written) as EventEnvelope;
};

const custom = (): EventEnvelope => {
  const judged = receive({ name: "a", properties: { text: "x".repeat(32_000) } }, "app_1", noon);
  return judged.kind === "event" ? judged.event : expect.fail("it was refused");
};

describe("an event", () => {
  const owned = Array.from({ length: userLimits.subscriptions }, () => aSubscription(of));
  const made: [string, () => EventEnvelope | Promise<EventEnvelope>][] = [
    ["of a user who was made", () => userCreated(largeUser)],
    ["of a user who changed", () => userUpdated(largeUser, owned)],
    ["of a message", () => anEvent(messageEventData(largeMessage))],
    ["of a change of settings", audited],
    ["that a customer sent", custom],
  ];
  for (const [what, make] of made) {
    it(`${what} has at most 65,536 bytes of JSON where it is made`, async () => {
      const event = await make();
      expect(bytesOf(event)).to.be.at.most(maxEventBytes);
      expect(event.truncated ?? false).to.equal(what !== "that a customer sent");
    });
  }

  it("of everyday size is as it was made", () => {
    expect(userCreated(aUser({ ...of, tags: { plan: "pro" } }))).not.to.have.property("truncated");
  });

  it("that was cut keeps the ids that it refers to whole", () => {
    const { data } = userUpdated(largeUser, owned);
    expect(data).to.include({ id: largeUser._id, user_id: largeUser._id, external_id: largeUser.external_id });
  });

  it("loses a reference that does not fit, rather than a part of it", () => {
    const { data } = anEvent({ external_id: "x".repeat(70_000), name: "kept" });
    expect(data).to.deep.equal({ name: "kept" });
  });

  it("is published within the bound, also when it was stored before there was one", () => {
    const stored = { ...anEvent({}), data: { text: control(300_000) } };
    expect(Buffer.byteLength(eventText(stored).text)).to.be.at.most(maxEventBytes);
    expect(textWithin(stored)).to.equal(eventText(stored).text);
  });
});

const anEvent = (data: Record<string, unknown>): EventEnvelope =>
  makeEvent({ kind: "message.queued", appId: "app_1", subjectId: null, data, at: noon, from: ["a"] });
