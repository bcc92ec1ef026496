import { languagesOf, localised } from "../../domain/messages/languages.ts";
import type { FieldError } from "../../errors.ts";
import type { Content } from "../../schema/messages/notification.ts";

/** That `contents` say nothing in some language. */
export const noText = (content: Content): FieldError[] => {
  const { contents } = content;
  const language = languagesOf(content).findLast((one) => !localised(contents, one));
  if (language === undefined) return [];
  const field = language !== null && contents?.[language] !== undefined ? `contents.${language}` : "contents";
  return [{ field, message: "has no text" }];
};

/** Texts of more characters than can be sent `by` a channel. */
export const tooLong = (
  field: string,
  texts: Record<string, string> | undefined,
  { most, by }: { most: number; by: string },
): FieldError[] =>
  Object.entries(texts ?? {})
    .filter(([, text]) => text.length > most)
    .map(([language, text]) => ({
      field: `${field}.${language}`,
      message: `has ${text.length} characters; at most ${most} can be sent by ${by}`,
    }));
