import { expect } from "chai";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { attribute, type Touch } from "#core/domain/events/attribution.ts";

const at = new Date("2026-11-23T12:00:00.000Z");
const before = (hours: number): Date => new Date(at.getTime() - hours * 3_600_000);
const touch = (id: string, sent: number, clicked: number | null = null): Touch => ({
  delivery_id: id,
  message_id: `msg_${id}`,
  subscription_id: "sub_1",
  user_id: "usr_1",
  channel: "email",
  sent_at: before(sent),
  clicked_at: clicked === null ? null : before(clicked),
});

const usual = settingsOf({}).outcomes;

describe("what led to an event", () => {
  const cases: { it: string; touches: Touch[]; kind: string; to: string | null }[] = [
    { it: "nothing, when nothing was sent", touches: [], kind: "unattributed", to: null },
    { it: "a click of the last 24 hours", touches: [touch("a", 100, 24), touch("b", 1)], kind: "direct", to: "a" },
    { it: "the latest click", touches: [touch("a", 9, 5), touch("b", 10, 2)], kind: "direct", to: "b" },
    { it: "no click before that", touches: [touch("a", 30, 24.1)], kind: "unattributed", to: null },
    { it: "no click after it", touches: [touch("a", 30, -1)], kind: "unattributed", to: null },
    { it: "a delivery of the last 24 hours", touches: [touch("a", 24)], kind: "influenced", to: "a" },
    { it: "the latest delivery", touches: [touch("a", 3), touch("b", 2)], kind: "influenced", to: "b" },
    { it: "no delivery before that", touches: [touch("a", 24.1)], kind: "unattributed", to: null },
    { it: "no delivery after it", touches: [touch("a", -0.1)], kind: "unattributed", to: null },
  ];
  for (const { it: what, touches, kind, to } of cases) {
    it(`is ${what}`, () => {
      const attribution = attribute(at, touches, usual);
      expect([attribution.kind, attribution.to?.delivery_id ?? null]).to.deep.equal([kind, to]);
    });
  }

  it("are the ten latest deliveries, the latest first", () => {
    const sent = Array.from({ length: 12 }, (_, n) => touch(`d${n}`, n));
    const attribution = attribute(at, sent.toReversed(), usual);
    const among = attribution.kind === "influenced" ? attribution.among : [];
    expect(among.map(({ delivery_id: id }) => id)).to.deep.equal(sent.slice(0, 10).map(({ delivery_id: id }) => id));
  });

  it("is judged by the minutes and the number that the app says", () => {
    const outcomes = { direct_minutes: 60, influenced_minutes: 120, influenced_limit: 1 };
    const late = attribute(at, [touch("a", 9, 2), touch("b", 1.5), touch("c", 1.8)], outcomes);
    expect(late).to.deep.include({ kind: "influenced", among: [touch("b", 1.5)] });
    expect(attribute(at, [touch("a", 9, 1)], outcomes).kind).to.equal("direct");
    expect(attribute(at, [touch("a", 2.1)], outcomes).kind).to.equal("unattributed");
  });
});
