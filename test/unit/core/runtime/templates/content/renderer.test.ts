import { expect } from "chai";
import { Liquid } from "liquidjs";
import { type ContentValues, contentRenderer, type RenderedContent } from "#core/runtime/templates/content/renderer.ts";
import { contentLimits } from "#core/runtime/templates/limits.ts";
import type { Content } from "#core/schema/messages/notification.ts";

const values: ContentValues = {
  user: { id: "usr_1", tags: { name: "Ann", plan: "" }, properties: { age: 41, cities: ["Bern", "Ulm"], empty: [] } },
  subscription: { channel: "email" },
  app: { name: "Shop <1>" },
  custom_data: { order: "4711", items: [{ sku: "b" }, { sku: "a" }], no: false, zero: 0, html: "<b>&\"'</b>" },
};

const rendered = (
  content: Content,
  partials: Record<string, string> = {},
  given = values,
  limitMs: number = contentLimits.renderMs,
): RenderedContent | "overtime" => contentRenderer({ content, partials }).render(given, limitMs);
const text = (en: string, partials = {}, given = values, limitMs?: number): unknown => {
  const result = rendered({ contents: { en } }, partials, given, limitMs);
  return typeof result === "object" && "content" in result ? result.content.contents?.["en"] : result;
};
const isPlain = (en: string): boolean => contentRenderer({ content: { contents: { en } }, partials: {} }).isPlain;

describe("a loop of a message's template", () => {
  const stock = new Liquid({ ownPropertyOnly: true, strictFilters: true, timezoneOffset: 0 });
  const inner = [
    "{{ item.sku }}",
    '{{ item.sku | default: "none" }}',
    "{{ item.deep.er }}-{{ item.list }}",
    "{{ user.tags.name }}",
    "{{ forloop.index }}{{ forloop.length }}",
    "{% assign place = forloop %}{{ place.index0 }}{{ place }}",
    "{% assign item = item.deep %}{{ item.er }}",
    "{% capture said %}<{{ item.sku }}>{% endcapture %}{{ said }}",
    "{{ item.constructor }}{{ item['__proto__'] }}{{ nobody.there }}",
    "{% if item.sku == nil %}{{ empty }}{% continue %}{% endif %}{{ blank }}!",
    "{{ item.sku.size }}{{ item.first }}{{ item.list.first }}{{ item[0] }}",
  ];
  const items = [
    { sku: "b" },
    { sku: null, deep: { er: 1 } },
    "text",
    7,
    null,
    false,
    ["x", 2],
    { list: [1, "2"] },
    {},
  ];
  for (const body of inner)
    it(`writes what Liquid writes: ${body}`, () => {
      const template = `{% for item in custom_data.items %}${body}|{% else %}nothing{% endfor %}`;
      for (const given of [items, [], items.slice(3)]) {
        const all = { ...values, custom_data: { items: given } };
        expect(text(template, {}, all)).to.equal(stock.parseAndRenderSync(template, all));
      }
    });
});

describe("a template of a message", () => {
  const plain: [template: string, text: string][] = [
    ["no Liquid", "no Liquid"],
    ["Hello {{ user.tags.name }}!", "Hello Ann!"],
    ["{{user.tags['name']}}", "Ann"],
    ["{{ user.tags.missing.deeper }}{{ nobody }}", ""],
    ['{{ user.tags.missing | default: "you" }} {{ user.tags.plan | default: "free" }}', "you free"],
    ['{{ custom_data.no | default: "a" }}{{ custom_data.zero | default: "b" }}', "a0"],
    ['{{ user.properties.empty | default: "none" }}{{ user.properties.cities | default: "none" }}', "noneBernUlm"],
    ["{{ custom_data.items }}", '{"sku":"b"}{"sku":"a"}'],
    ["a  {{- user.properties.age -}}  b", "a41b"],
    ["{{ user.constructor }}{{ user.__proto__.x }}{{ custom_data.items.constructor }}{{ constructor }}", ""],
  ];
  for (const [template, expected] of plain)
    it(`is plain, and as Liquid writes it: ${template}`, () => {
      expect(text(template)).to.equal(expected);
      expect(text(`{% if true %}${template}{% endif %}`)).to.equal(expected);
      expect([isPlain(template), isPlain(`{% if true %}${template}{% endif %}`)]).to.deep.equal([true, false]);
    });

  const other: [template: string, text: string][] = [
    ["{{ custom_data.items.size }}{{ user.properties.cities.first }}", "2Bern"],
    ["{{ custom_data.order | plus: 1 }}", "4712"],
    ["{% for i in custom_data.items %}{{ i.sku }}{% unless forloop.last %}, {% endunless %}{% endfor %}", "b, a"],
    ["{% assign n = user.tags.name | upcase %}{{ n }}", "ANN"],
    ["{% render 'greet', who: user.tags.name %}", "Hi Ann of Shop <1>"],
    ["{% assign who = 'x' %}{% render 'greet' %}", "Hi  of Shop <1>"],
  ];
  for (const [template, expected] of other)
    it(`is rendered: ${template}`, () => {
      expect(text(template, { greet: "Hi {{ who }} of {{ app.name }}" })).to.equal(expected);
      expect(isPlain(template.replace(/{% render.*%}/, "{% assign a = 1 %}"))).to.equal(false);
    });

  it("keeps what has no text, and what it reads", () => {
    const content: Content = {
      ios_badge_type: "SetTo",
      ios_badge_count: 3,
      url: "https://x.test/{{ custom_data.order }}",
      custom_data: { a: "{{ b }}" },
    };
    expect(rendered(content)).to.deep.equal({ content: { ...content, url: "https://x.test/4711" } });
  });

  it("gives addresses their form, or fails", () => {
    const url = "{{ custom_data.url }}";
    const made = (address: string) => rendered({ url }, {}, { custom_data: { url: address } });
    expect(made("https://x.test/a")).to.deep.equal({ content: { url: "https://x.test/a" } });
    const message = "must be an absolute address such as https://example.com/a";
    expect(made("no address")).to.deep.equal({ fault: { member: "url", line: 1, column: 1, message } });
  });

  it("escapes what it writes of values in mails, but for what is raw", () => {
    for (const wrapped of ["", "{% assign a = 1 %}"]) {
      const email_body = `${wrapped}<p>{{ custom_data.html }}{{ custom_data.html | raw }}{{ app.name }}{{ x | default: "<" }}</p>`;
      expect(rendered({ email_subject: "{{ app.name }}", email_body })).to.deep.equal({
        content: {
          email_subject: "Shop <1>",
          email_body: "<p>&lt;b&gt;&amp;&#34;&#39;&lt;/b&gt;<b>&\"'</b>Shop &lt;1&gt;&lt;</p>",
        },
      });
    }
  });

  it("is not sent to whom it says abort for, with the reason", () => {
    const en = '{% if user.tags.plan == "" %}{% abort "no plan" %}{% endif %}Hello';
    expect(text(en)).to.deep.equal({ aborted: "no plan" });
    expect(text(en, {}, { user: { tags: { plan: "pro" } } })).to.equal("Hello");
    expect(text("{% abort %}")).to.deep.equal({ aborted: "" });
    expect(text("{% abort user.tags.name %}")).to.deep.equal({ aborted: "Ann" });
    expect(text("{% render 'stop' %}", { stop: "{% abort 'partial' %}" })).to.deep.equal({ aborted: "partial" });
  });

  const unhurriedMs = 60_000; // another bound is to end it, also where the processor is shared
  const doubled = '{% assign a = custom_data.order | split: "" %}' + "{% assign a = a | concat: a %}".repeat(60);
  const nested = "{% for i in (1..1000) %}".repeat(4) + "{% endfor %}".repeat(4);
  for (const [name, en, expected] of [
    ["loops without end", nested, "overtime"],
    ["counts to a thousand million", "{% for i in (1..1000000000) %}{% endfor %}", "needs too much memory"],
    ["allocates ever more", doubled, "needs too much memory"],
    [
      "writes more than is sent",
      `{% for i in (1..2000) %}${"x".repeat(1_000)}{% endfor %}`,
      "writes more than 1000000 bytes",
    ],
  ] as const)
    it(`ends when it ${name}`, () => {
      const result = text(en, {}, values, expected === "overtime" ? undefined : unhurriedMs);
      expect(typeof result === "object" ? JSON.stringify(result) : result).to.contain(expected);
    });

  it("ends when it is plain and writes more than is sent", () => {
    const long = { custom_data: { text: "x".repeat(60_000) } };
    const fault = { member: "contents.en", line: 1, column: 1, message: "writes more than 1000000 bytes" };
    expect(text("{{ custom_data.text }}".repeat(20), {}, long)).to.deep.equal({ fault });
  });

  it("says where it failed, and nothing of the values", () => {
    const result = text("a\n {{ custom_data.order | divided_by: 0 | floor | nope }}");
    expect(result).to.deep.equal({
      fault: { member: "contents.en", line: 2, column: 2, message: "undefined filter: nope" },
    });
  });
});
