import { expect } from "chai";
import { receive } from "#core/domain/events/custom.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { CustomEvent } from "#core/schema/events/custom.ts";
import { parser } from "#core/schema/json/parser.ts";

const now = new Date("2026-11-21T12:00:00.000Z");
const inMs = (ms: number): string => new Date(now.getTime() + ms).toISOString();
const minute = 60_000;
const day = 86_400_000;

const received = (given: Partial<CustomEvent>, appId = "app_1") => {
  const judged = receive({ name: "n", ...given }, appId, now);
  if (judged.kind === "refused") throw new Error(judged.error.code);
  return judged;
};
const made = (given: Partial<CustomEvent>) => received(given).event;

describe("a custom event", () => {
  const times: { it: string; at: string | undefined; expected: string }[] = [
    { it: "that says no time happened now", at: undefined, expected: inMs(0) },
    { it: "of the last 30 days keeps its time", at: inMs(-30 * day), expected: inMs(-30 * day) },
    {
      it: "keeps its time, in whatever zone it is given",
      at: "2026-11-21T12:30:00+01:00",
      expected: inMs(-30 * minute),
    },
    { it: "up to 5 minutes ahead happened now", at: inMs(5 * minute), expected: inMs(0) },
  ];
  for (const { it: name, at, expected } of times) {
    it(name, () => {
      const event = made(at === undefined ? {} : { occurred_at: at });
      expect(event.data["occurred_at"]).to.equal(expected);
      expect(event.timestamp, "received").to.equal(inMs(0));
    });
  }

  const refused: { it: string; at: string; code: string }[] = [
    { it: "older than 30 days is refused", at: inMs(-30 * day - 1), code: "OCCURRED_AT_TOO_OLD" },
    { it: "further ahead is refused", at: inMs(5 * minute + 1), code: "OCCURRED_AT_IN_FUTURE" },
  ];
  for (const { it: name, at, code } of refused) {
    it(name, () =>
      expect(receive({ name: "n", occurred_at: at }, "app_1", now)).to.have.nested.property("error.code", code),
    );
  }

  it("counts once under the sender's id in an app, and is another in another app or under another id", () => {
    const once = [
      received({ id: "1" }),
      received({ id: "1", name: "m" }),
      received({ id: "2" }),
      received({ id: "1" }, "app_2"),
    ].map((judged) => judged.once);
    expect(once[1]).to.equal(once[0]);
    expect(new Set(once).size).to.equal(3);
    expect(received({}).once).to.equal(false);
  });

  it("has an id of its own each time: the sender may use theirs again after a day", () => {
    for (const given of [{}, { id: "1" }]) expect(made(given).id).not.to.equal(made(given).id);
  });

  it("has a name without the spaces at its ends", () => {
    expect(made({ name: " a b \u00a0" }).data["name"]).to.equal("a b");
  });

  it("is about the user, by whichever id was given", () => {
    expect(made({ user_id: "usr_1" }).subject_id).to.equal("usr_1");
    expect(made({ external_id: "ann" }).subject_id).to.equal("ann");
    expect(made({ subscription_id: "sub_1" }).subject_id).to.equal(null);
  });

  it("fits the schema of event.received", () => {
    const parse = parser(eventTypes["event.received"].data);
    expect(() => parse(made({}).data)).not.to.throw();
    const full = {
      id: "1",
      external_id: "ann",
      subscription_id: "s",
      properties: { "a.b": [{ $c: "\0" }] },
      value: 1.5,
    };
    expect(() => parse(made(full).data)).not.to.throw();
  });
});
