import type { InAppContent, InAppVariant } from "../../schema/in-app-messages/content.ts";
import type { ShownInApp } from "../../schema/in-app-messages/device.ts";
import { variantOf } from "../experiments/assignment.ts";
import { localised } from "../messages/languages.ts";

/** Whom a message is shown to: it decides variant and language. */
export type Viewer = { userId: string; language: string | null };

type Message = { _id: string; variants: readonly InAppVariant[] };

/** What a person sees of a message; null when no variant has people. */
export const shownTo = (
  { _id, variants }: Message,
  { userId, language }: Viewer,
): Pick<ShownInApp, "variant_id" | "variants" | "content"> | null => {
  const variant = variantOf(_id, variants, userId);
  if (variant === null) return null;
  return {
    variant_id: variant.id,
    variants: variants.map(({ id, weight_percent }) => ({ id, weight_percent })),
    content: contentIn(variant.content, language),
  };
};

const contentIn = (content: InAppContent, language: string | null): ShownInApp["content"] => {
  const { layout, title, body, image_url = null, buttons = [], background = null } = content;
  return {
    layout,
    title: localised(title, language) || null,
    body: localised(body, language) || null,
    image_url,
    buttons: buttons.map(({ id, text, action = "dismiss", url = null }) => ({
      id,
      text: localised(text, language) ?? "",
      action,
      url,
    })),
    background,
  };
};

/** Whether the time of a message has come, and has not passed. */
export const isDue = ({ start_at: start, end_at: end }: { start_at: Date | null; end_at: Date | null }, now: Date) =>
  (start === null || start <= now) && (end === null || end > now);
