import type { Rendering } from "../kit/rendering.ts";
import { startOfBody } from "./html-tags.ts";
import { type Tracking, trackedHtml, trackedText } from "./tracking.ts";

/** One mail, shared by all its recipients but for the addresses of ours in it. Addresses that are null are the account's. */
export type EmailMessage = ReturnType<typeof renderEmail>;

export type EmailSettings = {
  tracking: Tracking;
  /** Messages of these categories have to arrive, whatever else somebody does not want. */
  transactionalCategories: readonly string[];
};

/** Renders a message for e-mail: the preheader hidden at the top of the body, the text alternative made from the body. */
export const renderEmail = (
  { content, options, category = null }: Pick<Rendering, "content" | "options" | "category">,
  { tracking, transactionalCategories }: EmailSettings,
) => {
  const body = content.email_body ?? "";
  const { email_reply: reply } = content;
  const traced = reply === undefined ? tracking : { opens: false, clicks: false }; // somebody answers a person
  const wanted = { ...traced, clicks: traced.clicks && content.disable_email_click_tracking !== true };
  return {
    subject: content.email_subject ?? "",
    html: trackedHtml(content.email_preheader ? withPreheader(body, content.email_preheader) : body, wanted),
    text: trackedText(body, wanted),
    fromName: content.email_from_name ?? null,
    fromAddress: content.email_from_address ?? null,
    replyTo: content.email_reply_to_address ?? null,
    ...(reply !== undefined && { reply }),
    ...(content.email_files !== undefined && { files: content.email_files }),
    /** Has no way to unsubscribe from it. Source: docs/reference/email.md#unsubscribing. */
    isTransactional:
      reply !== undefined ||
      options.include_unsubscribed === true ||
      (category !== null && transactionalCategories.includes(category)),
  };
};

/** Mail programs show the first text of the body in their list; white space behind it keeps the body's own text out. */
const withPreheader = (html: string, preheader: string): string => {
  const block = `<div style="${hiddenStyle}">${escapeHtml(preheader)}${"&#847;&zwnj;&nbsp;".repeat(40)}</div>`;
  const at = startOfBody(html);
  return html.slice(0, at) + block + html.slice(at);
};

const hiddenStyle = "display:none;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => escapes[character] ?? character);
