import { expect } from "chai";
import { groupOf, isAccountDoubted, isGroupDoubted, type Verdict } from "#core/domain/suppressions/verdicts.ts";

const verdicts = (accepted: number, gone: number): Verdict[] =>
  Array.from({ length: accepted + gone }, (_, n) => ({ deliveryId: `dlv_${n}`, isGone: n >= accepted }));

describe("what calls addresses of an account gone", () => {
  type Case = { it: string; accepted: number; gone: number; isUnregistered?: true; believes: boolean };
  const cases: Case[] = [
    { it: "one of many", accepted: 99, gone: 1, believes: true },
    { it: "nine of ten of enough to judge by", accepted: 2, gone: 18, believes: true },
    { it: "nearly all", accepted: 1, gone: 19, believes: false },
    { it: "all, be they unregistered", accepted: 0, gone: 60, isUnregistered: true, believes: false },
    { it: "one of an account that has reached nobody yet", accepted: 0, gone: 1, believes: false },
    {
      it: "one that is unregistered where nobody was reached yet",
      accepted: 0,
      gone: 1,
      isUnregistered: true,
      believes: true,
    },
    { it: "one beside a good one", accepted: 1, gone: 1, believes: true },
    {
      it: "the twentieth of twenty, though unregistered",
      accepted: 0,
      gone: 20,
      isUnregistered: true,
      believes: false,
    },
  ];
  for (const { it: name, accepted, gone, isUnregistered = false, believes } of cases)
    it(`is ${believes ? "believed" : "doubted"}: ${name}`, () => {
      expect(isAccountDoubted(verdicts(accepted, gone), isUnregistered)).to.equal(!believes);
    });
});

describe("what calls addresses of a country or domain gone", () => {
  for (const [accepted, gone, doubted] of [
    [0, 10, false],
    [0, 11, true],
    [10, 10, false],
    [9, 11, true],
    [250, 250, false],
    [200, 300, true],
  ] as const)
    it(`is ${doubted ? "doubted" : "believed"} of ${gone} beside ${accepted} that came through`, () => {
      expect(isGroupDoubted(verdicts(accepted, gone))).to.equal(doubted);
    });

  for (const [channel, address, group] of [
    ["sms", "+4915112345678", "+49"],
    ["sms", "+12025550123", "+1"],
    ["whatsapp", "+351912345678", "+351"],
    ["email", "a@b.example", "b.example"],
  ] as const)
    it(`puts ${address} with those of ${group}`, () => {
      expect(groupOf(channel, address)).to.equal(group);
    });
});
