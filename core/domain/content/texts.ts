import type { Content } from "../../schema/messages/notification.ts";

/** A text of a message's content, and where it stands: `contents.en`, `buttons[0].text`. */
export type MemberText = { member: string; text: string };

/** Every text of a content in which Liquid may stand: all but those in `custom_data`, which templates read. */
export const textsOf = (content: Content): MemberText[] => {
  const found: MemberText[] = [];
  withTexts(content, (text, member) => {
    found.push({ member, text });
    return text;
  });
  return found;
};

/** The content with each of its texts as `change` gives it. */
export const withTexts = (content: Content, change: (text: string, member: string) => string): Content => {
  const { custom_data: data, ...said } = content;
  const changed = changedIn(said, "", change) as Content; // sound: only texts are changed, each into a text
  return data === undefined ? changed : { ...changed, custom_data: data };
};

const changedIn = (value: unknown, member: string, change: (text: string, member: string) => string): unknown => {
  if (typeof value === "string") return change(value, member);
  if (Array.isArray(value)) return value.map((item, i) => changedIn(item, `${member}[${i}]`, change));
  if (typeof value !== "object" || value === null) return value;
  const below = member === "" ? "" : `${member}.`;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, changedIn(item, `${below}${name}`, change)]),
  );
};

/** Whether a text has Liquid: otherwise it is sent as it is. */
export const hasLiquid = (text: string): boolean => text.includes("{{") || text.includes("{%");

/** Members whose text is HTML, in which what a template writes of values is escaped. */
export const isHtmlMember = (member: string): boolean => member === "email_body" || member === "email_mjml";
