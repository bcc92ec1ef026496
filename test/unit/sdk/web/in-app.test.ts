import { expect } from "chai";
import { type InAppMessage, isCurrent, mayShow } from "../../../../sdk/web/src/in-app/messages.ts";
import { type Happening, isTriggered, type Trigger } from "../../../../sdk/web/src/in-app/triggers.ts";
import { inkOn } from "../../../../sdk/web/src/renderer/ink.ts";
import { imageOf, linkOf } from "../../../../sdk/web/src/view/links.ts";

const event = (properties: Record<string, unknown>): Happening => ({ kind: "event", name: "cart", properties });
const page = (name: string): Happening => ({ kind: "page", name });
const of = (op: Trigger["op"], value?: Trigger["value"]): Trigger => ({
  event: "cart",
  property: "total",
  ...(op && { op }),
  ...(value !== undefined && { value }),
});

const cases: [what: string, trigger: Trigger, happening: Happening, shows: boolean][] = [
  ["an event of the name", { event: "cart" }, event({}), true],
  ["an event of another name", { event: "Cart" }, event({}), false],
  ["an equal value", of("eq", 20), event({ total: 20 }), true],
  ["an equal value of another type", of("eq", 20), event({ total: "20" }), false],
  ["another value", of("neq", 20), event({ total: 21 }), true],
  ["no value", of("neq", 20), event({}), false],
  ["a larger number", of("gt", 20), event({ total: 21 }), true],
  ["the same number, which is not larger", of("gt", 20), event({ total: 20 }), false],
  ["the same number", of("gte", 20), event({ total: 20 }), true],
  ["a smaller number", of("lt", 20), event({ total: 19 }), true],
  ["a text, which is not smaller", of("lte", 20), event({ total: "1" }), false],
  ["a text with a part", of("contains", "sho"), event({ total: "shoes" }), true],
  ["what is there", of("exists"), event({ total: false }), true],
  ["what is null", of("exists"), event({ total: null }), false],
  ["what all objects have", { event: "cart", property: "toString", op: "exists" }, event({}), false],
  ["a session", { session: true }, { kind: "session" }, true],
  ["an event, which is no session", { session: true }, event({}), false],
  ["the page", { page: "/shoes" }, page("/shoes"), true],
  ["a page below it", { page: "/shoes" }, page("/shoes/1"), false],
  ["any page below", { page: "/shoes/*" }, page("/shoes/1"), true],
  ["a page with two gaps", { page: "/*/red/*" }, page("/shoes/red/1"), true],
  ["a page whose ends overlap", { page: "/ab*ba" }, page("/aba"), false],
  ["the seconds", { time_on_page: 3 }, { kind: "time", seconds: 3 }, true],
  ["fewer seconds", { time_on_page: 3 }, { kind: "time", seconds: 2 }, false],
];

describe("in-app messages in a browser", () => {
  for (const [what, trigger, happening, shows] of cases)
    it(`are ${shows ? "" : "not "}shown because of ${what}`, () =>
      expect(isTriggered(trigger, happening)).to.equal(shows));

  it("are shown once, or as often as they say and not before their time", () => {
    const hour = 3_600_000;
    const twice = { redisplay: { limit: 2, after_hours: 1 } };
    expect(mayShow({ redisplay: null }, undefined, 0)).to.equal(true);
    expect(mayShow({ redisplay: null }, { count: 1, lastMs: 0 }, 9 * hour)).to.equal(false);
    expect(mayShow(twice, { count: 1, lastMs: 0 }, hour - 1)).to.equal(false);
    expect(mayShow(twice, { count: 1, lastMs: 0 }, hour)).to.equal(true);
    expect(mayShow(twice, { count: 2, lastMs: 0 }, 9 * hour)).to.equal(false);
  });

  it("are shown between their begin and their end", () => {
    const at = Date.parse("2026-11-27T12:00:00Z");
    const times = { start_at: "2026-11-27T12:00:00Z", end_at: "2026-11-27T13:00:00Z" };
    const message = (some: object) => ({ start_at: null, end_at: null, ...some }) as InAppMessage;
    expect([at - 1, at, at + 3_600_000].map((now) => isCurrent(message(times), now))).to.deep.equal([
      false,
      true,
      false,
    ]);
    expect(isCurrent(message({}), at)).to.equal(true);
  });

  it("lead to addresses of the web, of mail and of phones only, and load images over https only", () => {
    const good = ["https://a.example/", "http://a.example/", "mailto:a@b.example", "tel:+4930"];
    const bad = ["javascript:alert(1)", " javascript:alert(1)", "data:text/html,x", "shop://cart", "/path", "", null];
    expect(good.map(linkOf)).to.deep.equal(good);
    expect(bad.map(linkOf)).to.deep.equal(bad.map(() => null));
    expect(["https://a.example/i.png", "http://a.example/i.png", "data:image/png,x"].map(imageOf)).to.deep.equal([
      "https://a.example/i.png",
      null,
      null,
    ]);
  });

  it("are written in black or white, whichever can be read better", () => {
    const colours = ["#ffffff", "#000000", "#ffd54f", "#7a1fa2", "#777777", "#2563eb"];
    expect(colours.map(inkOn)).to.deep.equal(["#000", "#fff", "#000", "#fff", "#000", "#fff"]);
  });
});
