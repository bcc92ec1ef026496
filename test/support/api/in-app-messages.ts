import type { InAppContent, InAppVariant } from "#core/schema/in-app-messages/content.ts";

/** A variant of an in-app message; `content` says more than a text. */
export const aVariant = ({
  content = {},
  ...members
}: Partial<Omit<InAppVariant, "content">> & { content?: Partial<InAppContent> } = {}): InAppVariant => ({
  id: "a",
  weight_percent: 100,
  ...members,
  content: { layout: "modal", body: { en: "Hello" }, ...content },
});
