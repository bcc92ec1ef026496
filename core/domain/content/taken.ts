import type { LanguageMap } from "../../schema/json/common.ts";
import type { Content } from "../../schema/messages/notification.ts";
import { isTranslated, localised } from "../messages/languages.ts";
import { inLanguage } from "./localise.ts";
import { mergedContent } from "./merge.ts";
import { hasLiquid, textsOf } from "./texts.ts";

/** What of a version a message needs that takes it. */
export type TakenVersion = {
  content: Content;
  /** What its `email_mjml` became. */
  email_html?: string;
  partials: readonly { name: string; contents: LanguageMap }[];
};

/** A message that takes a template: its own content, and what its own `email_mjml` became. */
export type TakingMessage = { content: Content; email_html?: string };

/** What a message says with its template, MJML as the HTML that it became. Source: docs/reference/templates.md#merging. */
export const saidWith = (message: TakingMessage, version: TakenVersion): Content => {
  const { email_mjml: mjml, ...merged } = mergedContent(message.content, version.content);
  const html = message.content.email_mjml ? message.email_html : version.email_html;
  return mjml && html !== undefined ? { ...merged, email_body: html } : merged;
};

/** Whether it says something else to each recipient: otherwise to each language at most. */
export const isPersonal = (content: Content): boolean => textsOf(content).some(({ text }) => hasLiquid(text));

/** Whether the language of a recipient matters. */
export const speaksLanguages = (content: Content, { partials }: TakenVersion): boolean =>
  isTranslated(content) || partials.some(({ contents }) => Object.keys(contents).length > 1);

/** What is said in one language, with the partials in it. */
export const templateIn = (content: Content, { partials }: TakenVersion, language: string | null) => ({
  content: inLanguage(content, language),
  partials: Object.fromEntries(partials.map(({ name, contents }) => [name, localised(contents, language) ?? ""])),
});
