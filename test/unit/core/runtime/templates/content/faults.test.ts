import { expect } from "chai";
import { judgeLiquid } from "#core/runtime/templates/content/faults.ts";
import { contentLimits } from "#core/runtime/templates/limits.ts";
import type { Content } from "#core/schema/messages/notification.ts";

const faultsIn = (content: Content) => judgeLiquid(content, "any").faults;
const text = (en: string): Content => ({ contents: { en } });

describe("the Liquid of a content", () => {
  it("is looked for in every text, however deep, but for the data that it reads", () => {
    const bad = "{% nope %}";
    const content: Content = {
      contents: { en: "plain", de: bad },
      data: { key: bad },
      web_buttons: [{ id: "a", text: bad }],
      whatsapp_interactive: { type: "list", list: { button: bad, sections: [{ title: bad, rows: [] }] } },
      custom_data: { text: bad },
    };
    expect(faultsIn(content).map(({ member }) => member)).to.deep.equal([
      "contents.de",
      "data.key",
      "web_buttons[0].text",
      "whatsapp_interactive.list.button",
      "whatsapp_interactive.list.sections[0].title",
    ]);
  });

  it("has a fault where the tag or output begins", () => {
    expect(faultsIn(text("a\n\n  {{ b | nope }}"))).to.deep.equal([
      { member: "contents.en", line: 3, column: 3, message: "undefined filter: nope" },
    ]);
  });

  it("may leave HTML as it is in mails alone", () => {
    expect(faultsIn({ email_subject: "a", email_body: "{{ user.tags.html | raw }}" })).to.deep.equal([]);
    expect(faultsIn(text("{{ user.tags.html | raw }}"))).to.have.length(1);
  });

  it("names the partials that it renders, each once", () => {
    const content = {
      contents: { en: "{% render 'a' %}{% if x %}{% render \"b\", c: 1 %}{% endif %}{% render 'a' %}" },
    };
    expect(judgeLiquid(content, "any")).to.deep.equal({ faults: [], partials: ["a", "b"] });
    expect(judgeLiquid(content, new Set(["a"])).faults).to.deep.equal([
      { member: "contents.en", line: 1, column: 27, message: 'there is no published partial "b"' },
    ]);
  });

  for (const [name, content, message] of [
    ["nested without end", text("{% if a %}".repeat(4_999)), "is nested too deeply"],
    [
      "of too many steps",
      { headings: { en: "{{ a }}".repeat(2_500) }, ...text("{{ a }}".repeat(2_501)) },
      "more than 5000 outputs and tags",
    ],
    [
      "of a step that is too long",
      text(`{{ "${"a".repeat(4_000)}" }}`),
      "an output or tag has at most 4000 characters",
    ],
    ["of a step without an end", text(`{{ ${"a.".repeat(100_000)}`), "an output or tag has at most 4000 characters"],
  ] as const)
    it(`is refused when it is ${name}, in little time`, () => {
      const begun = process.threadCpuUsage();
      const [fault] = faultsIn(content);
      const { user } = process.threadCpuUsage(begun);
      expect(fault?.message).to.equal(message);
      expect(user / 1000).to.be.lessThan(2_000);
    });

  it("may have as many steps as the bound says", () => {
    expect(faultsIn(text("{{ a }}".repeat(contentLimits.steps)))).to.deep.equal([]);
  });
});
