import { expect } from "chai";
import { type Ranked, ranked } from "#core/domain/messages/one-per-user.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";

const at = (_id: string, channel: Channel, minute = 0): Ranked => ({
  _id,
  channel,
  last_active_at: new Date(Date.UTC(2026, 2, 1, 12, minute)),
});

describe("the order in which somebody's addresses are tried", () => {
  const all = [at("mail", "email", 9), at("old", "ios_push", 1), at("rcs", "rcs"), at("new", "web_push", 2)];
  const cases: { it: string; addresses: Ranked[]; named?: Channel[]; expect: string[] }[] = [
    {
      it: "is by the usual channels, and by the last activity among the devices",
      addresses: [...all, at("sms", "sms"), at("chat", "whatsapp")],
      expect: ["new", "old", "chat", "sms", "rcs", "mail"],
    },
    {
      it: "is by the channels that the message names",
      addresses: all,
      named: ["email", "ios_push", "web_push", "rcs"],
      expect: ["mail", "old", "new", "rcs"],
    },
    { it: "is by id where nothing else decides", addresses: [at("b", "sms"), at("a", "sms")], expect: ["a", "b"] },
    { it: "is none of nobody", addresses: [], expect: [] },
  ];
  for (const { it: name, addresses, named, expect: wanted } of cases)
    it(name, () => {
      expect(ranked(addresses, named).map(({ _id }) => _id)).to.deep.equal(wanted);
    });
});
