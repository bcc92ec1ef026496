import type { mediaProblems } from "../../schema/conversations/message.ts";

/** What may become of a file of a message. Source: docs/reference/callbacks.md#files. */
export const maxMediaBytes = 16 * 1024 * 1024;

/** Why a file is not there. */
export type MediaProblem = (typeof mediaProblems)[number];

/**
 * The type of content that a file is kept as, without parameters; null for one that is not kept: what a browser would run, and
 * what nobody sends in a message.
 */
export const keptMediaType = (given: string | null): string | null => {
  const type = (given ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  return allowed.some((pattern) => pattern.test(type)) ? type : null;
};

const allowed = [
  /^image\/(jpeg|png|gif|webp|heic|heif|bmp|tiff)$/,
  /^video\/(mp4|3gpp2?|quicktime|webm|mpeg|h26[34]|x-m4v)$/,
  /^audio\/(aac|amr|amr-nb|basic|mp3|mp4|mpeg|ogg|opus|wav|vnd\.wave|x-wav|x-m4a|3gpp2?|ac3|webm|l24)$/,
  /^text\/(plain|csv|vcard|x-vcard|calendar|directory|rtf)$/,
  /^application\/(pdf|rtf|msword|zip|vcard|ogg|json)$/,
  /^application\/vnd\.(ms-(excel|powerpoint)|openxmlformats-officedocument\.[a-z.]+|oasis\.opendocument\.[a-z]+)$/,
];

/** The ending of a file's name by its type, where one is made for it. */
export const endingOf = (type: string): string =>
  endings[type] ?? type.split("/")[1]?.replaceAll(/[^a-z0-9]/g, "") ?? "bin";

const endings: Readonly<Record<string, string>> = {
  "image/jpeg": "jpg",
  "video/quicktime": "mov",
  "video/3gpp": "3gp",
  "audio/mpeg": "mp3",
  "audio/mp4": "m4a",
  "text/plain": "txt",
  "text/vcard": "vcf",
  "text/x-vcard": "vcf",
  "application/msword": "doc",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
};
