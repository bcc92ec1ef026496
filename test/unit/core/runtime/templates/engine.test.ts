import { expect } from "chai";
import { type Rendered, templateEngine, templateProblem } from "#core/runtime/templates/engine.ts";
import { templateLimits } from "#core/runtime/templates/limits.ts";

const { render } = templateEngine();

const anEnvelope = (data: object = {}): object => ({
  id: "evt_1",
  type: "event.received",
  timestamp: "2026-03-01T12:00:00.000Z",
  app_id: "app_1",
  data: {
    name: 'Ann "A" 😀',
    list: [3, 1, 2],
    items: [{ sku: "b" }, { sku: "a" }],
    amount: 12.5,
    nothing: null,
    ...data,
  },
});

const text = (template: string, data?: object): Rendered | "overtime" =>
  render(template, "text/plain", anEnvelope(data), templateLimits.renderMs);

const json = (template: string, data?: object): Rendered | "overtime" =>
  render(template, "application/json", anEnvelope(data), templateLimits.renderMs);

/** The same value doubled so often that joined it would have more than a gigabyte. */
const doubled = (times: number): string =>
  `{% assign a = data.big | split: "none" %}${"{% assign a = a | concat: a %}".repeat(times)}`;

/** Lists in lists, each twice: written out they would have 2 to the 40th items. */
const nested = `{% assign b = "x" | split: "," %}${"{% assign b = b | push: b %}".repeat(40)}`;

describe("a body template", () => {
  const cases: [template: string, body: string][] = [
    ["{{ type }} of {{ app_id }}", "event.received of app_1"],
    ["{{ data.name }}", 'Ann "A" 😀'],
    ["{{ data.name | json }}", '"Ann \\"A\\" 😀"'],
    ["{{ data.missing | json }}{{ data.missing }}", "null"],
    ["{{ data.items }}", '{"sku":"b"}{"sku":"a"}'],
    ["{{ data.list | sort | join: '-' }} {{ data.list.size }} {{ data.list[0] }}", "1-2-3 3 3"],
    ["{{ data.items | map: 'sku' | json }}", '["b","a"]'],
    ["{% for i in data.items %}{{ forloop.index }}{{ i.sku }}{% endfor %}", "1b2a"],
    ["{% if data.amount > 12 %}much{% else %}little{% endif %}", "much"],
    ["{{ timestamp | date: '%Y-%m-%d %H:%M' }}", "2026-03-01 12:00"],
    ["{{ data.amount | times: 2 | round }}", "25"],
    ["{% liquid assign x = 1 \n echo x %}", "1"],
    ["{{ data.name | sha256 | size }}", "64"],
  ];
  for (const [template, body] of cases)
    it(`${template.replaceAll("\n", " ")} renders`, () => {
      expect(text(template)).to.deep.equal({ body });
    });

  it("gives valid JSON where JSON is wanted, and an error that shows nothing of the event where it is none", () => {
    expect(json('{"text": {{ data.name | json }}, "all": {{ data.items | json }}}')).to.deep.equal({
      body: '{"text": "Ann \\"A\\" 😀", "all": [{"sku":"b"},{"sku":"a"}]}',
    });
    for (const bad of ["", "{{ data.name }}", '{"name": "{{ data.name }}"}', "{{ data.list }} x"]) {
      const result = json(bad) as { error: { code: string; message: string } };
      expect(result.error.code, bad).to.equal("INVALID_JSON");
      expect(result.error.message).to.match(/^the output is no valid JSON( at position \d+)?$/);
    }
  });

  it("leaves no half of a surrogate pair", () => {
    expect(text("{{ data.bad }}{{ data.name | slice: 8 }}", { bad: "a\ud800" })).to.deep.equal({
      body: "a\ufffd😀",
    });
  });

  it("does not change what the next render of it gets", () => {
    const counting = "{% increment data %}{% assign x = x | append: 'a' %}{{ x }}";
    expect([text(counting), text(counting)]).to.deep.equal([{ body: "0a" }, { body: "0a" }]);
  });
});

describe("the sandbox of a body template", () => {
  const nothing = [
    "data.constructor",
    "data.constructor.constructor",
    "data.__proto__",
    "data.toString",
    "data.name.constructor",
    "data.list.constructor",
    "data.list.map",
    "data.list.__proto__.push",
    "constructor",
    "__proto__.toString",
    "this",
    "globalThis",
    "process.env",
    "require",
    "data['constructor']",
    "data.items | map: 'constructor' | first",
    "data.items | map: '__proto__.constructor' | last",
    "data.items | where: 'constructor' | first",
  ];
  for (const expression of nothing)
    it(`shows nothing at ${expression}`, () => {
      expect(text(`{{ ${expression} }}`)).to.deep.equal({ body: "" });
    });

  it("lets nobody call what is inherited by Liquid's own objects", () => {
    for (const name of ["constructor", "__proto__.constructor", "__proto__.__proto__.constructor", "__defineGetter__"])
      expect(text(`{% for i in data.list %}{{ forloop.${name} }}{% endfor %}`), name)
        .to.have.nested.property("error.message")
        .that.matches(/^cannot be rendered, line 1, column \d+$/);
  });

  it("changes no prototype", () => {
    text(
      "{% assign __proto__ = data %}{% increment __proto__ %}{% capture constructor %}x{% endcapture %}{{ __proto__.name }}",
    );
    expect(({} as Record<string, unknown>)["name"]).to.equal(undefined);
    expect(Object.getPrototypeOf({})).to.equal(Object.prototype);
    expect({}.constructor).to.equal(Object);
  });

  const refused: [template: string, message: RegExp][] = [
    ["{% include 'a' %}", /^tag "include" not found/],
    ["{% render 'a' %}", /^tag "render" not found/],
    ["{% layout 'a' %}", /^tag "layout" not found/],
    ["{% block a %}{% endblock %}", /^tag "block" not found/],
    ["{{ data.items | where_exp: 'i', 'i.sku' }}", /^undefined filter: where_exp/],
    ["{{ data.list | sample }}", /^undefined filter: sample/],
    ["{{ data.name | strip_html }}", /^undefined filter: strip_html/],
    ["{{ 1 | nothing }}", /^undefined filter: nothing/],
    ["{% if %}", /line:1, col:6$/],
    ["{{ data.name ", /not closed/],
    ["{% for i in data.list %}", /not closed/],
    ["{% if a %}".repeat(2_000), /./],
    ["x".repeat(20_001), /^must have at most 20000 characters$/],
  ];
  for (const [template, message] of refused)
    it(`refuses ${template.slice(0, 50)} when it is accepted, and when it is rendered`, () => {
      expect(templateProblem(template)).to.match(message);
      const result = text(template) as { error: { code: string; message: string } };
      expect(result.error.code).to.equal("TEMPLATE_SYNTAX");
      expect(result.error.message.length).to.be.at.most(200);
    });

  it("accepts every template that it renders", () => {
    expect(templateProblem("{{ data.name | json }}{% for i in data.list %}{{ i }}{% endfor %}")).to.equal(null);
    expect(templateProblem("x".repeat(20_000))).to.equal(null);
  });

  const bounded: [what: string, template: string, message: string][] = [
    ["a range of a thousand million", "{% for i in (1..1000000000) %}x{% endfor %}", "needs too much memory"],
    [
      "a text doubled a hundred times",
      `{% assign s = "aa" %}{% for i in (1..100) %}{% assign s = s | append: s %}{% endfor %}`,
      "needs too much memory",
    ],
    ["a list of 8,192 large texts", `${doubled(13)}{{ a | upcase }}`, "needs too much memory"],
    ["the same written out", `${doubled(13)}{{ a }}`, "needs too much memory"],
    ["the same joined", `${doubled(13)}{{ a | join: "" }}`, "needs too much memory"],
    ["lists in lists", `${nested}{{ b }}`, "needs too much memory"],
    ["lists in lists as JSON", `${nested}{{ b | json }}`, "needs too much memory"],
    ["a text between all characters", `{{ data.big | replace: "", data.big }}`, "needs too much memory"],
    ["a date of a hundred million digits", `{{ timestamp | date: "%100000000d" }}`, "needs too much memory"],
    ["more than 65,536 bytes", `{{ data.big }}{{ data.big }}`, "writes more than 65536 bytes"],
    ["bytes that are more than characters", `{{ data.wide }}`, "writes more than 65536 bytes"],
    [
      "a variable of more than 65,536 characters",
      `{% capture x %}{{ data.big }}{{ data.big }}{% endcapture %}`,
      "writes more than 65536 bytes",
    ],
  ];
  for (const [what, template, message] of bounded)
    it(`ends at ${what}`, () => {
      const result = text(template, { big: "a".repeat(60_000), wide: "é".repeat(40_000) }) as {
        error: { code: string; message: string };
      };
      expect(result.error.code).to.equal("TEMPLATE_RENDER");
      expect(result.error.message).to.match(new RegExp(`^${message}(, line \\d+, column \\d+)?$`));
    });

  it("ends after its time", () => {
    const loops =
      "{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}{% endfor %}{% endfor %}{% endfor %}";
    expect(text(loops)).to.equal("overtime");
    expect(render("{% for i in (1..100000) %}{{ i }}{% endfor %}", "text/plain", {}, 0)).to.equal("overtime");
  });

  it("allows 65,536 bytes", () => {
    expect(text("{{ data.big }}", { big: "é".repeat(32_768) })).to.deep.equal({ body: "é".repeat(32_768) });
  });

  it("says nothing of the event in its errors", () => {
    const secret = "top-secret-value";
    const failing = [
      `{{ data.secret | date_to_xmlschema: data.secret | round: data.secret }}{{ data.secret | base64_decode }}`,
      `{{ data.odd }}{{ data.odd | upcase }}`,
      `{{ data.secret | json: 5 }}`,
      `{% for i in (1..data.secret) %}{% endfor %}{{ data.secret | nothing }}`,
    ];
    for (const template of failing) {
      const result = text(template, { secret, odd: { toString: secret } });
      expect(result, template).to.have.property("error");
      expect(JSON.stringify(result)).not.to.include("top-secret");
    }
  });
});
