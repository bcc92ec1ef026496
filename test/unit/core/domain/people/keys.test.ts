import { expect } from "chai";
import { peopleOf } from "#core/domain/people/keys.ts";

describe("the people of an event", () => {
  const refs = { user_id: "usr_1", external_id: "ada", subscription_id: "sub_1" };
  const cases: { it: string; subject?: string | null; data: Record<string, unknown>; expect: string[] }[] = [
    { it: "are those that a delivery refers to", data: refs, expect: ["usr_1", "external_id:ada"] },
    { it: "are none when nobody is named", data: { user_id: null, external_id: null }, expect: [] },
    {
      it: "are a user and the owners of the subscriptions, each once",
      subject: "usr_1",
      data: { id: "usr_1", external_id: "ada", subscriptions: [refs, { ...refs, external_id: "old" }] },
      expect: ["usr_1", "external_id:ada", "external_id:old"],
    },
    {
      it: "are a subscription's owner, not the subscription",
      subject: "sub_1",
      data: { id: "sub_1", user_id: "usr_2" },
      expect: ["usr_2"],
    },
    {
      it: "are a subscription where no user is named by an id of ours",
      subject: "ada",
      data: { user_id: null, external_id: "ada", subscription_id: "sub_1" },
      expect: ["external_id:ada", "sub_1"],
    },
    {
      it: "are both sides of a merge",
      data: { user_id: "usr_1", merged_user_id: "usr_2" },
      expect: ["usr_1", "usr_2"],
    },
    {
      it: "are everyone whom a message's target names",
      data: {
        user_id: null,
        target: {
          include_external_ids: ["ada", "bob"],
          include_aliases: { user_id: ["usr_3"], crm: ["7"] },
          include_subscription_ids: ["sub_9"],
          email_to: ["Ada@Example.com"],
          include_phone_numbers: ["+49151"],
          channels: ["email"],
        },
      },
      expect: [
        "external_id:ada",
        "external_id:bob",
        "usr_3",
        "crm:7",
        "sub_9",
        "email:ada@example.com",
        "phone:+49151",
      ],
    },
    {
      it: "are not guessed from what a custom event carries",
      data: { name: "paid", properties: { user_id: "usr_5", external_id: "x" }, target: "ada" },
      expect: [],
    },
  ];
  for (const { it: name, subject = null, data, expect: wanted } of cases) {
    it(name, () => expect(peopleOf({ subject_id: subject, data })).to.deep.equal(wanted));
  }

  it("are at most 4,000", () => {
    const include_external_ids = Array.from({ length: 5_000 }, (_, n) => `u${n}`);
    expect(peopleOf({ subject_id: null, data: { target: { include_external_ids } } })).to.have.length(4_000);
  });
});
