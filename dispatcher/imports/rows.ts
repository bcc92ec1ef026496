import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { type CsvRow, csvReader, Unreadable } from "#core/domain/imports/csv.ts";
import { fileKind } from "#core/domain/imports/file-kind.ts";
import { importLimits } from "#core/schema/imports/import.ts";
import type { Content } from "#core/storage/files/store.ts";

/** The rows of a file, its header first, in pieces as they were read; `bytes`: how many of the file have been read. */
export type FileRows = { pieces: AsyncIterable<CsvRow[]>; bytes: () => number };

/** Reads CSV in UTF-8, also as gzip, in bounded memory. @throws Unreadable for any other file, and what `content` throws */
export const rowsOf = (content: Content): FileRows => {
  let bytes = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for await (const chunk of content) {
      bytes += chunk.byteLength;
      yield chunk;
    }
  }
  return { pieces: piecesOf(counted(), () => bytes), bytes: () => bytes };
};

async function* piecesOf(content: AsyncGenerator<Uint8Array>, packedBytes: () => number): AsyncGenerator<CsvRow[]> {
  const reader = csvReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  for await (const chunk of plain(content, packedBytes)) yield reader.read(decoded(decoder, chunk));
  yield reader.read(decoded(decoder));
  yield reader.end();
}

/** @throws Unreadable for what is not UTF-8 */
const decoded = (decoder: InstanceType<typeof TextDecoder>, chunk?: Uint8Array): string => {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw new Unreadable("the file is not UTF-8");
  }
};

async function* plain(content: AsyncGenerator<Uint8Array>, packedBytes: () => number): AsyncGenerator<Uint8Array> {
  const first = await content.next();
  if (first.done === true) return;
  const whole = chained(first.value, content);
  const kind = fileKind(first.value);
  if (kind.kind === "unsupported") throw new Unreadable(`the file ${kind.problem}`);
  yield* kind.kind === "gzip" ? inflated(whole, packedBytes) : whole;
}

async function* chained(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first;
  yield* rest;
}

const freeBytes = 16 * 1024 * 1024; // that no ratio is asked of

async function* inflated(content: AsyncGenerator<Uint8Array>, packedBytes: () => number): AsyncGenerator<Uint8Array> {
  const gunzip = createGunzip();
  const fed = pipeline(Readable.from(content, { objectMode: false }), gunzip);
  fed.catch(() => undefined); // whoever reads hears of it
  let inflatedBytes = 0;
  try {
    for await (const chunk of gunzip) {
      inflatedBytes += chunk.byteLength;
      if (inflatedBytes > importLimits.inflatedBytes) throw new Unreadable("the file inflates to more than 1 GiB");
      if (inflatedBytes > freeBytes && inflatedBytes > importLimits.inflatedTimes * packedBytes())
        throw new Unreadable(`the file inflates to more than ${importLimits.inflatedTimes} times its size`);
      yield chunk;
    }
  } catch (error) {
    throw isZlibError(error) ? new Unreadable("the gzip cannot be read to its end", { cause: error }) : error;
  }
}

const isZlibError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && typeof error.code === "string" && error.code.startsWith("Z_");
