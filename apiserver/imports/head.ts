import { constants, gunzipSync } from "node:zlib";
import { csvReader, Unreadable } from "#core/domain/imports/csv.ts";
import { fileKind } from "#core/domain/imports/file-kind.ts";
import { headerOf } from "#core/domain/imports/header.ts";
import { invalid } from "#core/errors.ts";
import type { ImportType } from "#core/schema/imports/import.ts";

export type HeadCheck = {
  /** What is wrong with the file for this type; null when its head is right. Known once the content has been read. */
  problem: (type: ImportType) => string | null;
};

const headBytes = 64 * 1024; // the longest header, as it was sent

/**
 * Passes a file through and looks at its head. When the type is known already it throws as soon as the head is wrong, and
 * the rest is not read.
 */
export const headChecked = (
  content: AsyncIterable<Uint8Array>,
  type: ImportType | null,
): HeadCheck & { content: AsyncIterable<Uint8Array> } => {
  let head = Buffer.alloc(0);
  let isWhole = false;
  const problem = (of: ImportType): string | null => problemOf(head, of, isWhole);
  async function* passed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      if (head.byteLength < headBytes) {
        head = Buffer.concat([head, chunk]).subarray(0, headBytes);
        if (head.byteLength === headBytes) refuse();
      }
      yield chunk;
    }
    isWhole = head.byteLength < headBytes;
    if (isWhole) refuse();
  }
  const refuse = (): void => {
    const found = type === null ? null : problem(type);
    if (found !== null) throw invalid("file", found);
  };
  return { content: passed(), problem };
};

const problemOf = (head: Buffer, type: ImportType, isWhole: boolean): string | null => {
  const kind = fileKind(head);
  if (kind.kind === "unsupported") return kind.problem;
  try {
    const first = firstRow(kind.kind === "gzip" ? inflatedHead(head) : head, isWhole);
    if (first === null) return isWhole ? "is empty" : `has no header within ${headBytes} bytes`;
    const header = headerOf(type, first);
    return header.ok ? null : header.problem;
  } catch (error) {
    return error instanceof Unreadable ? error.message : "is not UTF-8, or a gzip that cannot be read";
  }
};

/** What the beginning of a gzip holds. @throws Error of zlib */
const inflatedHead = (head: Buffer): Buffer =>
  gunzipSync(head.subarray(0, packedBytes), { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: mostInflated });

const packedBytes = 8 * 1024; // what a header needs, packed
const mostInflated = 16 * 1024 * 1024; // 8 KiB inflate to less: deflate packs 1:1032 at best

/** The cells of the first row; null when there is none. */
const firstRow = (head: Buffer, isWhole: boolean): string[] | null => {
  const reader = csvReader();
  const text = new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: !isWhole });
  const [first] = reader.read(text);
  const [last] = first === undefined && isWhole ? reader.end() : [];
  return (first ?? last)?.cells ?? null;
};
