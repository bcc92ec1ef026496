import { pipeline, Readable } from "node:stream";
import { createGzip } from "node:zlib";
import type { Compression } from "#core/schema/exports/export.ts";
import type { LinePage } from "./lines.ts";

export type ContentOptions = {
  lines: AsyncIterable<LinePage>;
  compression: Compression;
  /** Called with the rows of each page before it is written; what it throws ends the content. */
  onPage: (rows: number) => Promise<void>;
};

/** The bytes of a file. A page is read while the one before is written; no more wait. */
export const contentOf = (options: ContentOptions): AsyncIterable<Uint8Array> =>
  options.compression === "gzip" ? packed(bytesOf(options)) : bytesOf(options);

async function* bytesOf({ lines, onPage }: ContentOptions): AsyncGenerator<Uint8Array> {
  for await (const { bytes, rows } of oneAhead(lines)) {
    await onPage(rows);
    yield bytes;
  }
}

/** Asks for the next item before it gives the one that is there. */
export async function* oneAhead<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
  const source = items[Symbol.asyncIterator]();
  let next = source.next();
  try {
    for (let item = await next; item.done !== true; item = await next) {
      next = source.next();
      next.catch(() => undefined); // it is awaited when its turn comes, if it does
      yield item.value;
    }
  } finally {
    await next.catch(() => undefined); // a page that is being read is not left behind
    await source.return?.();
  }
}

/** Level 1: CPU is what exports are short of, and it halves the size of level 9's gain for a quarter of its time. */
const packed = (content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> =>
  pipeline(Readable.from(content, { objectMode: false }), createGzip({ level: 1 }), () => undefined); // its reader gets the error
