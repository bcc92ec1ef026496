import { expect } from "chai";
import { type BodyTemplates, bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";

const anEvent = (data: Record<string, unknown> = {}): EventEnvelope => ({
  id: "evt_1",
  type: "event.received",
  timestamp: "2026-03-01T12:00:00.000Z",
  app_id: "app_1",
  subject_id: null,
  api_version: "1.0",
  data,
});

/** Takes two seconds and little memory, in one step: no clock is looked at meanwhile. */
const stubborn = `{{ data.items ${"|default".repeat(2_000)}|size }}`;
const items = Array.from({ length: 100_000 }, () => ({}));

const endless =
  "{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}{% endfor %}{% endfor %}{% endfor %}";

describe("body templates", () => {
  let templates: BodyTemplates;
  beforeEach(() => {
    templates = bodyTemplates();
  });
  afterEach(() => templates.stop(new AbortController().signal));

  it("are rendered each with its own event, however many at once", async () => {
    const rendered = await Promise.all(
      Array.from({ length: 1_000 }, (_, i) =>
        templates.render(`${i % 7}: {{ data.n }}`, "text/plain", anEvent({ n: i })),
      ),
    );
    expect(rendered).to.deep.equal(Array.from({ length: 1_000 }, (_, i) => ({ body: `${i % 7}: ${i}` })));
  }).timeout(20_000);

  it("say what is wrong with a template, its output and its use of time", async () => {
    const wrong = [
      templates.render("{% if %}", "text/plain", anEvent()),
      templates.render("{{ data.text }}", "application/json", anEvent({ text: "x" })),
      templates.render("{{ data.text | base64_decode }}", "text/plain", anEvent({ text: "-" })),
      templates.render(endless, "text/plain", anEvent()),
    ];
    const codes = (await Promise.all(wrong)).map((one) => ("error" in one ? one.error.code : one.body));
    expect(codes).to.deep.equal(["TEMPLATE_SYNTAX", "INVALID_JSON", "TEMPLATE_RENDER", "TEMPLATE_RENDER"]);
    expect(await wrong[3]).to.deep.equal({ error: { code: "TEMPLATE_RENDER", message: "takes longer than 100 ms" } });
  }).timeout(20_000);

  it("go on when a render had to be ended with its thread, which only that render does not survive", async () => {
    const quick = (n: number): Promise<unknown> => templates.render("{{ data.n }}", "text/plain", anEvent({ n }));
    await quick(0);
    const evil = templates.render(stubborn, "text/plain", anEvent({ items }));
    const beside = await Promise.all(Array.from({ length: 50 }, (_, i) => quick(i)));
    expect(beside).to.deep.equal(Array.from({ length: 50 }, (_, i) => ({ body: String(i) })));
    expect(await evil).to.deep.equal({ error: { code: "TEMPLATE_RENDER", message: "takes longer than 100 ms" } });
    expect(await quick(1)).to.deep.equal({ body: "1" });
    expect(await templates.render("{{ data.n | plus: 1 }}", "text/plain", anEvent({ n: 1 }))).to.deep.equal({
      body: "2",
    });
  }).timeout(30_000);

  it("that are quick are rendered while one that is slow is", async () => {
    const quick = (): Promise<unknown> => templates.render("{{ data.n }}", "text/plain", anEvent({ n: 1 }));
    await quick();
    const order: string[] = [];
    const slow = Promise.all(
      Array.from({ length: 5 }, () => templates.render(endless, "text/plain", anEvent())),
    ).finally(() => order.push("slow"));
    for (let i = 0; i < 200; i++) await quick();
    order.push("quick");
    await slow;
    expect(order).to.deep.equal(["quick", "slow"]); // 5 slow ones take half a second, 200 quick ones some milliseconds
  }).timeout(30_000);

  it("are no longer rendered once they are stopped", async () => {
    await templates.render("x", "text/plain", anEvent());
    const refused = { error: { code: "TEMPLATE_RENDER", message: "cannot be rendered now" } };
    const pending = templates.render(endless, "text/plain", anEvent());
    await templates.stop(new AbortController().signal);
    expect(await pending).to.deep.equal(refused);
    expect(await templates.render("x", "text/plain", anEvent())).to.deep.equal(refused);
  }).timeout(20_000);
});
