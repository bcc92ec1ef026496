import { expect } from "chai";
import { emptyTexts, impossible } from "#core/channels/content.ts";
import type { Content } from "#core/schema/messages/notification.ts";

type Template = NonNullable<Content["whatsapp_template"]>;
type Interactive = NonNullable<Content["whatsapp_interactive"]>;

const template = (over: Partial<Template> = {}): Content => ({
  whatsapp_template: { name: "sale", language: "en_US", ...over },
});
const media = (over: Partial<NonNullable<Content["whatsapp_media"]>> = {}): Content => ({
  whatsapp_media: { type: "image", url: "https://x.test/a.png", ...over },
});
const buttons = (over: Partial<Interactive> = {}): Content => ({
  contents: { en: "Sure?" },
  whatsapp_interactive: { type: "button", buttons: [{ id: "y", title: "Yes" }], ...over },
});
const rows = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ id: `r${from + i}`, title: "Row" }));
const list = (sections: NonNullable<Interactive["list"]>["sections"]): Content => ({
  contents: { en: "Which?" },
  whatsapp_interactive: { type: "list", list: { button: "Choose", sections } },
});
const long = "x".repeat(1_025);

const refused: { it: string; content: Content; field: string; says: string }[] = [
  {
    it: "media beside a template",
    content: { ...template(), ...media() },
    field: "whatsapp_media",
    says: "excludes whatsapp_template",
  },
  {
    it: "buttons beside media",
    content: { ...media(), ...buttons() },
    field: "whatsapp_interactive",
    says: "excludes whatsapp_media",
  },
  {
    it: "a template's name in capitals",
    content: template({ name: "Sale" }),
    field: "whatsapp_template.name",
    says: "lower-case",
  },
  {
    it: "a language of BCP 47",
    content: template({ language: "en-US" }),
    field: "whatsapp_template.language",
    says: "en_US",
  },
  {
    it: "a header that Meta cannot fetch",
    content: template({ header: { type: "image", url: "ftp://x.test/a" } }),
    field: "whatsapp_template.header.url",
    says: "https",
  },
  {
    it: "an empty parameter",
    content: template({ body_params: ["a", " "] }),
    field: "whatsapp_template.body_params[1]",
    says: "empty",
  },
  {
    it: "a parameter with a line break",
    content: template({ body_params: ["a\nb"] }),
    field: "whatsapp_template.body_params[0]",
    says: "line breaks",
  },
  {
    it: "a parameter with five spaces",
    content: template({ body_params: ["a     b"] }),
    field: "whatsapp_template.body_params[0]",
    says: "4 spaces",
  },
  {
    it: "two values for one button",
    content: template({
      button_params: [
        { index: 1, sub_type: "url", value: "a" },
        { index: 1, sub_type: "url", value: "b" },
      ],
    }),
    field: "whatsapp_template.button_params[1].index",
    says: "another",
  },
  {
    it: "media that Meta cannot fetch",
    content: media({ url: "file:///etc/passwd" }),
    field: "whatsapp_media.url",
    says: "https",
  },
  {
    it: "a name of an image",
    content: media({ filename: "a.png" }),
    field: "whatsapp_media.filename",
    says: "document",
  },
  {
    it: "a caption that is too long",
    content: { ...media(), contents: { en: long } },
    field: "contents.en",
    says: "1024",
  },
  {
    it: "a text that is too long",
    content: { contents: { en: "a", de: "x".repeat(4_097) } },
    field: "contents.de",
    says: "4096",
  },
  {
    it: "a text above buttons that is too long",
    content: { ...buttons(), contents: { en: long } },
    field: "contents.en",
    says: "1024",
  },
  {
    it: "type button without buttons",
    content: { contents: { en: "a" }, whatsapp_interactive: { type: "button" } },
    field: "whatsapp_interactive.buttons",
    says: "required",
  },
  {
    it: "a list of type button",
    content: buttons({ list: { button: "b", sections: [{ rows: rows(1) }] } }),
    field: "whatsapp_interactive.list",
    says: "not for",
  },
  {
    it: "type list without a list",
    content: { contents: { en: "a" }, whatsapp_interactive: { type: "list" } },
    field: "whatsapp_interactive.list",
    says: "required",
  },
  {
    it: "two buttons of one id",
    content: buttons({
      buttons: [
        { id: "y", title: "Yes" },
        { id: "y", title: "No" },
      ],
    }),
    field: "whatsapp_interactive.buttons[1].id",
    says: "another",
  },
  {
    it: "two buttons of one title",
    content: buttons({
      buttons: [
        { id: "y", title: "Yes" },
        { id: "n", title: "Yes" },
      ],
    }),
    field: "whatsapp_interactive.buttons[1].title",
    says: "another",
  },
  {
    it: "eleven rows in two sections",
    content: list([
      { title: "a", rows: rows(6) },
      { title: "b", rows: rows(5, 6) },
    ]),
    field: "whatsapp_interactive.list.sections",
    says: "10 rows",
  },
  {
    it: "one of two sections without a title",
    content: list([{ title: "a", rows: rows(1) }, { rows: rows(1, 1) }]),
    field: "whatsapp_interactive.list.sections[1].title",
    says: "required",
  },
  {
    it: "two rows of one id",
    content: list([
      { title: "a", rows: rows(2) },
      { title: "b", rows: rows(1, 1) },
    ]),
    field: "whatsapp_interactive.list.sections[1].rows[0].id",
    says: "another",
  },
];

const taken: { it: string; content: Content }[] = [
  { it: "a template with a text for other channels", content: { ...template(), contents: { en: "x".repeat(5_000) } } },
  { it: "a parameter of four spaces in a row", content: template({ body_params: ["a    b"] }) },
  { it: "media without a caption", content: media() },
  { it: "audio with a text for other channels", content: { ...media({ type: "audio" }), contents: { en: long } } },
  { it: "a document with its name", content: media({ type: "document", filename: "a.pdf" }) },
  { it: "buttons below a text of 1,024 characters", content: { ...buttons(), contents: { en: "😀".repeat(1_024) } } },
  { it: "one section without a title", content: list([{ rows: rows(10) }]) },
  { it: "a text of 4,096 characters", content: { contents: { en: "x".repeat(4_096) } } },
];

describe("what WhatsApp refuses", () => {
  for (const { it: what, content, field, says } of refused)
    it(`names ${what}`, () => {
      const errors = impossible({ content, options: {} }, ["whatsapp"]);
      expect(errors.map((error) => error.field)).to.deep.equal([field]);
      expect(errors[0]?.message).to.contain(says);
    });

  for (const { it: what, content } of taken)
    it(`takes ${what}`, () => {
      expect(impossible({ content, options: {} }, ["whatsapp"])).to.deep.equal([]);
    });

  it("names a text that says nothing in some language, unless it is a caption or of other channels", () => {
    const contents = { en: "Hello", de: "" };
    const empty = [{ field: "contents.de", message: "has no text" }];
    expect(emptyTexts({ contents }, ["whatsapp"])).to.deep.equal(empty);
    expect(emptyTexts({ ...buttons(), contents }, ["whatsapp"])).to.deep.equal(empty);
    expect(emptyTexts({ ...buttons(), contents: {} }, ["whatsapp"])).to.deep.equal([
      { field: "contents", message: "has no text" },
    ]);
    expect(emptyTexts({ ...media(), contents }, ["whatsapp"])).to.deep.equal([]);
    expect(emptyTexts({ ...template(), contents }, ["whatsapp"])).to.deep.equal([]);
  });
});
