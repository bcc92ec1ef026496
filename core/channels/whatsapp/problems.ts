import { isBlank } from "../../domain/messages/neutral.ts";
import type { FieldError } from "../../errors.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { noText } from "../kit/text.ts";
import type { Interactive, Media, Template } from "./render.ts";

/**
 * What WhatsApp would refuse of a message, beyond what its schema says. Source: docs/reference/whatsapp.md#content;
 * developers.facebook.com, WhatsApp Business Platform, "Messages" and "Templates".
 */
export const whatsappProblems = ({ content }: { content: Content }): FieldError[] => {
  const { whatsapp_template: template, whatsapp_media: media, whatsapp_interactive: interactive } = content;
  return [
    ...excluded(content),
    ...(template === undefined ? textProblems(content) : templateProblems(template)),
    ...(media === undefined ? [] : mediaProblems(media)),
    ...(interactive === undefined ? [] : interactiveProblems(interactive)),
  ];
};

/** The members of which a message has at most one. */
const forms = ["whatsapp_template", "whatsapp_media", "whatsapp_interactive"] as const;

/** Whether a message has one of the members that are for WhatsApp alone. */
export const hasForm = (content: Content): boolean =>
  content.whatsapp_reply !== undefined || forms.some((form) => content[form] !== undefined);

/** A template, a place and a reaction say what they say without a text, and media needs none beside it. */
export const emptyText = (content: Content): FieldError[] => {
  const { whatsapp_template: template, whatsapp_media: media, whatsapp_reply: reply } = content;
  const saysAnything = [template, media, reply?.location, reply?.reaction].some((one) => one !== undefined);
  return saysAnything ? [] : noText(content);
};

const excluded = (content: Content): FieldError[] => {
  const [first, ...others] = forms.filter((form) => content[form] !== undefined);
  return others.map((field) => ({ field, message: `excludes ${first}: a message is one of them` }));
};

/** Longest texts, characters, by what they are: of a message of their own, a caption, the body above buttons or a list. */
const longest = { text: 4_096, caption: 1_024, body: 1_024 };

const textProblems = ({
  contents = {},
  whatsapp_media: media,
  whatsapp_interactive: buttons,
}: Content): FieldError[] => {
  if (media?.type === "audio") return [];
  const is = media !== undefined ? "caption" : buttons !== undefined ? "body" : "text";
  return Object.entries(contents).flatMap(([language, text]) => {
    const isFine = Array.from(text).length <= longest[is];
    return unless(
      isFine,
      `contents.${language}`,
      `as ${is} on WhatsApp it must have at most ${longest[is]} characters`,
    );
  });
};

const templateProblems = ({ name, language, header, body_params = [], button_params = [] }: Template): FieldError[] => [
  ...unless(/^[a-z0-9_]+$/.test(name), "whatsapp_template.name", "must be lower-case letters, digits and _"),
  ...unless(
    /^[a-z]{2,3}(_[A-Za-z0-9]{2,4})?$/.test(language),
    "whatsapp_template.language",
    "must be a language of WhatsApp, such as en or en_US",
  ),
  ...(header !== undefined && "url" in header ? linkProblems("whatsapp_template.header.url", header.url) : []),
  ...body_params.flatMap((text, i) => parameterProblems(`whatsapp_template.body_params[${i}]`, text)),
  ...repeated(button_params.map(({ index }) => index)).map((i) => ({
    field: `whatsapp_template.button_params[${i}].index`,
    message: "is that of another button",
  })),
];

const parameterProblems = (field: string, text: string): FieldError[] => [
  ...unless(!isBlank(text), field, "must not be empty"),
  ...unless(!/[\n\r\t]| {5}/.test(text), field, "must have no line breaks, no tabs and no more than 4 spaces in a row"),
];

const mediaProblems = ({ type, url, filename }: Media): FieldError[] => [
  ...linkProblems("whatsapp_media.url", url),
  ...unless(filename === undefined || type === "document", "whatsapp_media.filename", "is for a document only"),
];

const linkProblems = (field: string, url: string): FieldError[] =>
  unless(/^https?:\/\//i.test(url), field, "must be an address that Meta can fetch: https or http");

const interactiveProblems = ({ type, buttons, list }: Interactive): FieldError[] => {
  const at = "whatsapp_interactive";
  const [wanted, other] = type === "button" ? (["buttons", "list"] as const) : (["list", "buttons"] as const);
  const given = { buttons, list };
  return [
    ...unless(given[wanted] !== undefined, `${at}.${wanted}`, `is required by type ${type}`),
    ...unless(given[other] === undefined, `${at}.${other}`, `is not for type ${type}`),
    ...repeated((buttons ?? []).map(({ id }) => id)).map((i) => same(`${at}.buttons[${i}].id`)),
    ...repeated((buttons ?? []).map(({ title }) => title)).map((i) => same(`${at}.buttons[${i}].title`)),
    ...(list === undefined ? [] : listProblems(list, `${at}.list`)),
  ];
};

const mostRows = 10; // of all sections

const listProblems = ({ sections }: NonNullable<Interactive["list"]>, at: string): FieldError[] => {
  const rows = sections.flatMap((section, s) => section.rows.map(({ id }, r) => ({ id, s, r })));
  return [
    ...sections.flatMap(({ title }, s) =>
      unless(
        title !== undefined || sections.length === 1,
        `${at}.sections[${s}].title`,
        "is required of each of several",
      ),
    ),
    ...unless(rows.length <= mostRows, `${at}.sections`, `must have at most ${mostRows} rows in all`),
    ...repeated(rows.map(({ id }) => id)).map((i) => same(`${at}.sections[${rows[i]?.s}].rows[${rows[i]?.r}].id`)),
  ];
};

const unless = (isFine: boolean, field: string, message: string): FieldError[] => (isFine ? [] : [{ field, message }]);

const same = (field: string): FieldError => ({ field, message: "is that of another one" });

/** The places of what stands before already. */
const repeated = (values: readonly unknown[]): number[] =>
  values.flatMap((value, i) => (values.indexOf(value) < i ? [i] : []));
