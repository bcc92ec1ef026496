import { expect } from "chai";
import { type CheckedInApp, inAppFaults } from "#core/domain/in-app-messages/check.ts";
import type { InAppContent, InAppTrigger } from "#core/schema/in-app-messages/content.ts";
import { aVariant } from "../../../../support/api/in-app-messages.ts";

const aMessage = (members: Partial<CheckedInApp> = {}): CheckedInApp => ({
  triggers: [],
  start_at: null,
  end_at: null,
  variants: [aVariant()],
  ...members,
});

const saying = (content: Partial<InAppContent>) => aMessage({ variants: [aVariant({ content })] });
const on = (...triggers: InAppTrigger[]) => aMessage({ triggers });
const button = (members: object) => saying({ buttons: [{ id: "a", text: { en: "Go" }, ...members }] });
const [early, late] = [new Date("2026-01-01T00:00:00Z"), new Date("2026-01-02T00:00:00Z")];

const cases: { it: string; message: CheckedInApp; fields: string[] }[] = [
  { it: "takes a plain one", message: aMessage(), fields: [] },
  { it: "takes an image alone", message: saying({ body: {}, image_url: "https://x.example/a.png" }), fields: [] },
  { it: "asks for something to show", message: saying({ body: { en: "" } }), fields: ["variants[0].content"] },
  {
    it: "asks for weights that make 100",
    message: aMessage({ variants: [aVariant({ weight_percent: 50 })] }),
    fields: ["variants"],
  },
  {
    it: "asks for ids of their own",
    message: aMessage({ variants: [aVariant({ weight_percent: 50 }), aVariant({ weight_percent: 50 })] }),
    fields: ["variants[1].id"],
  },
  { it: "asks for an end behind the begin", message: aMessage({ start_at: late, end_at: early }), fields: ["end_at"] },
  { it: "takes an end without a begin", message: aMessage({ end_at: early }), fields: [] },
  {
    it: "refuses what is too large",
    message: aMessage({ variants: [aVariant({ content: { body: { en: "x".repeat(33_000) } } })] }),
    fields: ["variants"],
  },
  {
    it: "takes a button that goes to an app's page",
    message: button({ action: "open", url: "shop:item/4" }),
    fields: [],
  },
  {
    it: "refuses a script behind a button",
    message: button({ action: "open", url: "JavaScript:alert(1)" }),
    fields: ["variants[0].content.buttons[0].url"],
  },
  {
    it: "asks where a button opens",
    message: button({ action: "open" }),
    fields: ["variants[0].content.buttons[0].url"],
  },
  {
    it: "refuses an address of a button that only closes",
    message: button({ url: "https://x.example" }),
    fields: ["variants[0].content.buttons[0].url"],
  },
  {
    it: "asks what a button says",
    message: button({ text: {} }),
    fields: ["variants[0].content.buttons[0].text"],
  },
  {
    it: "asks for buttons with ids of their own",
    message: saying({
      buttons: [
        { id: "a", text: { en: "A" } },
        { id: "a", text: { en: "B" } },
      ],
    }),
    fields: ["variants[0].content.buttons[1].id"],
  },
  {
    it: "takes each kind of trigger",
    message: on({ session: true }, { page: "/a*" }, { time_on_page: 5 }),
    fields: [],
  },
  { it: "takes an event alone", message: on({ event: "x" }), fields: [] },
  { it: "takes a property that is there", message: on({ event: "x", property: "p", op: "exists" }), fields: [] },
  { it: "takes a number above another", message: on({ event: "x", property: "p", op: "gt", value: 1 }), fields: [] },
  { it: "refuses a trigger of nothing", message: on({}), fields: ["triggers[0]"] },
  { it: "refuses a trigger of two things", message: on({ event: "x", session: true }), fields: ["triggers[0]"] },
  {
    it: "refuses a comparison without an event",
    message: on({ session: true, value: 1 }),
    fields: ["triggers[0].value"],
  },
  { it: "refuses a value without a property", message: on({ event: "x", value: 1 }), fields: ["triggers[0].value"] },
  { it: "asks how a property is compared", message: on({ event: "x", property: "p" }), fields: ["triggers[0].op"] },
  {
    it: "asks for the value that is compared",
    message: on({ event: "x", property: "p", op: "eq" }),
    fields: ["triggers[0].value"],
  },
  {
    it: "refuses a value where none is compared",
    message: on({ event: "x", property: "p", op: "exists", value: 1 }),
    fields: ["triggers[0].value"],
  },
  {
    it: "refuses an order of texts",
    message: on({ event: "x", property: "p", op: "lt", value: "1" }),
    fields: ["triggers[0].value"],
  },
  {
    it: "refuses a number in a text",
    message: on({ event: "x", property: "p", op: "contains", value: 1 }),
    fields: ["triggers[0].value"],
  },
];

describe("what of an in-app message no schema can judge", () => {
  for (const { it: name, message, fields } of cases)
    it(name, () => {
      expect(inAppFaults(message).map(({ field }) => field)).to.deep.equal(fields);
    });
});
