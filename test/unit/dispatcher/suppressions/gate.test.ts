import { expect } from "chai";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type FindSuppressedDeps, findSuppressed } from "#core/storage/suppressions/find-suppressed.ts";
import type { Met } from "#core/storage/suppressions/suppressions.ts";
import { suppressionGate } from "../../../../dispatcher/suppressions/gate.ts";
import { aMessage, aSubscription, handClock } from "../../../support/rows/work.ts";

const ada = aSubscription({ _id: "sub_ada", channel: "email", token: "ada@example.com", external_id: "4711" });
const bob = aSubscription({ _id: "sub_bob", channel: "email", token: "bob@example.com", external_id: null });
const phone = aSubscription({ _id: "sub_phone", channel: "ios_push", token: "ada@example.com", external_id: "4711" });

type Entry = Partial<Met> & { subject: string };

/** Why each of these is left out, when the list has these entries. */
const reasons = async (entries: readonly Entry[], message: Partial<MessageRow> = {}, recipients = [ada, bob]) => {
  const asked: string[] = [];
  const list: FindSuppressedDeps["suppressions"] = {
    isAny: async () => entries.length > 0,
    about: async (_of, _channel, subjects) => {
      asked.push(...subjects);
      return entries
        .filter(({ subject }) => subjects.includes(`of ${subject}`))
        .map((entry) => ({ reason: "manual", categories: null, ...entry, subject: `of ${entry.subject}` }));
    },
  };
  const subjectsOf = async () => (about: string) => `of ${about}`;
  const gate = suppressionGate(findSuppressed({ suppressions: list, subjectsOf, clock: handClock() }));
  const check = await gate(aMessage(message), recipients);
  return { reasons: recipients.map(check), asked };
};

describe("the suppression list before a send", () => {
  it("leaves out who is suppressed by their address", async () => {
    const entry = { subject: "email:bob@example.com", reason: "hard_bounce" as const };
    expect((await reasons([entry])).reasons).to.deep.equal([null, "suppression_hard_bounce"]);
  });

  it("leaves out who is suppressed by their external id", async () => {
    const entry = { subject: "external_id:4711", reason: "legal" as const };
    expect((await reasons([entry])).reasons).to.deep.equal(["suppression_legal", null]);
    expect((await reasons([entry], {}, [phone])).reasons).to.deep.equal(["suppression_legal"]);
  });

  it("leaves out who said so on a device of theirs, anonymous or not", async () => {
    const [anonymous, known] = [
      aSubscription({ _id: "sub_1", user_id: "usr_1" }),
      aSubscription({ _id: "sub_2", user_id: "usr_2", external_id: "4711" }),
    ];
    for (const [user, expected] of [
      ["usr_1", ["suppression_unsubscribe", null]],
      ["usr_2", [null, "suppression_unsubscribe"]],
    ] as const) {
      const entry = { subject: `user_id:${user}`, reason: "unsubscribe" as const, categories: ["news"] };
      const left = await reasons([entry], { category: "news" }, [anonymous, known]);
      expect(left.reasons).to.deep.equal(expected);
    }
  });

  it("gives the strongest reason", async () => {
    const entries = [
      { subject: "email:ada@example.com", reason: "soft_bounce" as const },
      { subject: "external_id:4711", reason: "complaint" as const },
    ];
    expect((await reasons(entries)).reasons).to.deep.equal(["suppression_complaint", null]);
  });

  it("suppresses no device by its token", async () => {
    const entry = { subject: "email:ada@example.com" };
    expect((await reasons([entry], {}, [phone])).reasons).to.deep.equal([null]);
  });

  it("is not asked for anybody while it is empty", async () => {
    expect((await reasons([])).asked).to.deep.equal([]);
  });

  const entry = { subject: "email:ada@example.com", categories: ["news"] };
  const cases: { it: string; entry: Entry; message: Partial<MessageRow>; expect: string | null }[] = [
    { it: "a message of that category", entry, message: { category: "news" }, expect: "suppression_manual" },
    { it: "no message of another category", entry, message: { category: "orders" }, expect: null },
    { it: "no message without a category", entry, message: { category: null }, expect: null },
  ];
  for (const { it: name, entry: one, message, expect: wanted } of cases)
    it(`holds back, by an entry for some categories, ${name}`, async () =>
      expect((await reasons([one], message)).reasons).to.deep.equal([wanted, null]));

  const bypassed: [Met["reason"], boolean][] = [
    ["unsubscribe", true],
    ["hard_bounce", false],
    ["complaint", false],
    ["carrier_opt_out", false],
    ["legal", false],
    ["manual", false],
    ["soft_bounce", false],
    ["invalid_address", false],
  ];
  for (const [reason, isReached] of bypassed)
    it(`${isReached ? "lets" : "does not let"} mail that has to arrive through in spite of ${reason}`, async () => {
      const options = { include_unsubscribed: true };
      const found = await reasons([{ subject: "email:ada@example.com", reason }], { options });
      expect(found.reasons).to.deep.equal([isReached ? null : `suppression_${reason}`, null]);
    });
});
