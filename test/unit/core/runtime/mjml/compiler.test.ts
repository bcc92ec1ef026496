import { expect } from "chai";
import { Unavailable, ValidationError } from "#core/errors.ts";
import { type MjmlCompiler, mjmlCompiler } from "#core/runtime/mjml/compiler.ts";

const body = (inside: string): string => `<mjml><mj-body>\n${inside}\n</mj-body></mjml>`;
const section = (text: string): string => `<mj-section><mj-column><mj-text>${text}</mj-text></mj-column></mj-section>`;

describe("the compiler of MJML", () => {
  let compiler: MjmlCompiler;
  before(() => {
    compiler = mjmlCompiler();
  });
  after(() => compiler.stop(new AbortController().signal));

  const refusal = async (mjml: string): Promise<unknown> => {
    const error: unknown = await compiler.compile("app_1", mjml).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ValidationError);
    return (error as ValidationError).details["errors"]; // just looked at
  };

  it("gives HTML that mail programs show", async () => {
    const html = await compiler.compile("app_1", body(section('Hello <a href="https://x.test/?a=1&amp;b=2">you</a>')));
    expect(html).to.match(/^\s*<!doctype html>/i);
    expect(html).to.contain('Hello <a href="https://x.test/?a=1&amp;b=2">you</a>');
  });

  it("keeps Liquid in texts, attributes and mj-raw as it is", async () => {
    const liquid = ["{% if custom_data.a > 1 %}", '{{ user.tags.name | default: "a & b" }}', "{% endif %}"];
    const mjml = body(section(liquid.join("")) + `<mj-raw>${liquid[0]}</mj-raw>`);
    const compiled = await compiler.compileTemplate("app_1", mjml);
    for (const one of liquid) expect("html" in compiled && compiled.html).to.contain(one);
  });

  it("refuses Liquid that would be left out, in a template alone", async () => {
    const mjml = body(`  {% if custom_data.big %}${section("{{ custom_data.name }}")}{% endif %}`);
    expect(await compiler.compileTemplate("app_1", mjml)).to.deep.equal({
      faults: [{ line: 2, column: 3, message: "Liquid outside of a component is left out: use mj-raw" }],
    });
    expect(await compiler.compile("app_1", mjml)).to.contain("{{ custom_data.name }}");
  });

  for (const { it: name, mjml, messages } of [
    {
      it: "an attribute and an element that are none, each with its line",
      mjml: body('<mj-section foo="1">\n<mj-nope/></mj-section>'),
      messages: [
        "line 2, column 1: Attribute foo is illegal (mj-section)",
        "line 3, column 1: Element mj-nope doesn't exist or is not registered (mj-nope)",
      ],
    },
    {
      it: "an include, of which no file is read",
      mjml: body(`${section("a")}\n<mj-include path="./package.json" type="html" />`),
      messages: ["line 3, column 1: mj-include is not available"],
    },
    { it: "what is no MJML", mjml: "<p>Hello</p>", messages: ["must be an <mjml> element with an <mj-body>"] },
    { it: "the empty text", mjml: "", messages: ["must be an <mjml> element with an <mj-body>"] },
    {
      it: "what is nested without end",
      mjml: body("<mj-section>".repeat(4_000)),
      messages: ["is nested too deeply"],
    },
  ])
    it(`refuses ${name}`, async () => {
      expect(await refusal(mjml)).to.deep.equal(messages.map((message) => ({ field: "email_mjml", message })));
    });

  it("names ten errors at most", async () => {
    expect(await refusal(body("<mj-nope/>".repeat(30)))).to.have.length(10);
  });

  it("refuses a template whose HTML would be too large", async () => {
    expect(JSON.stringify(await refusal(body(section("a").repeat(1_000))))).to.match(/at most 1000000 are sent/);
  });

  it("ends a template that takes too long, and goes on with the next one", async () => {
    const hasty = mjmlCompiler(1_000);
    const slow = hasty.compile("app_1", body(section("a").repeat(20_000))).catch((error: unknown) => String(error));
    const next = hasty.compile("app_2", body(section("b")));
    expect(await slow).to.contain("email_mjml: takes longer than 1000 ms");
    expect(await next).to.contain("b");
    await hasty.stop(new AbortController().signal);
  });

  it("goes on behind templates that it refuses, for every app", async () => {
    const [bad, good, other] = await Promise.allSettled([
      compiler.compile("app_1", "<mjml>"),
      compiler.compile("app_1", body(section("one"))),
      compiler.compile("app_2", body(section("two"))),
    ]);
    expect([bad.status, good.status, other.status]).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
  });

  it("is not available to an app of which too many wait, and is to others", async () => {
    const text = body(section("a"));
    const many = await Promise.allSettled(Array.from({ length: 20 }, () => compiler.compile("app_1", text)));
    expect(many.filter(({ status }) => status === "fulfilled")).to.have.length(11); // one is in hand
    const flood = Promise.allSettled(Array.from({ length: 20 }, () => compiler.compile("app_1", text)));
    expect(await compiler.compile("app_2", text)).to.contain("a");
    await flood;
  });

  it("is not available once it has stopped", async () => {
    const stopped = mjmlCompiler();
    const waiting = Promise.allSettled(Array.from({ length: 5 }, () => stopped.compile("app_1", body(section("a")))));
    await stopped.stop(new AbortController().signal);
    const results = await waiting;
    expect(results.every((one) => one.status === "rejected" && one.reason instanceof Unavailable)).to.equal(true);
  });
});
