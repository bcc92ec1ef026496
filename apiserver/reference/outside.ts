import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { nowhere, type Outside, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import { referenceOf } from "./document.ts";
import { page, start } from "./page.ts";

/**
 * The reference of the interface, as pages: no key, nothing of another host. `document` gives the OpenAPI document.
 * Source: docs/reference/requests.md#reference.
 */
export const reference = (document: () => Record<string, unknown>): Outside<{ settings: { publicUrl: string } }> => ({
  prefix: "/docs/",
  path: "/docs/",
  bind: ({ settings }) => {
    const files: Record<string, File> = {
      "": file("text/html; charset=utf-8", async () => page),
      "start.js": file(script, async () => start),
      "redoc.js": file(script, async () => (await readFile(renderer, "utf8")).replaceAll(foreignLogo, "data:,")),
      "openapi.json": file("application/json; charset=utf-8", async () =>
        JSON.stringify(referenceOf(document(), settings.publicUrl)),
      ),
    };
    return (request) => answer(files, request);
  },
});

const script = "text/javascript; charset=utf-8";

const renderer = createRequire(import.meta.url).resolve("redoc/bundles/redoc.standalone.js");

/** Redoc's own sign would be loaded from its makers' host; what says that the page is made by Redoc stays. */
const foreignLogo = "https://cdn.redoc.ly/redoc/logo-mini.svg";

/** A file as it is sent, made when it is asked for first. */
type File = { type: string; plain: () => Promise<string>; zipped: () => Promise<Buffer> };

const file = (type: string, make: () => Promise<string>): File => {
  const plain = once(make);
  return { type, plain, zipped: once(async () => promisify(gzip)(await plain())) };
};

/** What fails is made again by the next who asks. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return async () => {
    made ??= make();
    try {
      return await made;
    } catch (error) {
      made = undefined;
      throw error;
    }
  };
};

const answer = async (
  files: Readonly<Record<string, File>>,
  { method, parts, header }: OutsideRequest,
): Promise<OutsideReply> => {
  const [name = "", ...more] = parts;
  const found = Object.hasOwn(files, name) && more.length === 0 ? files[name] : undefined;
  if (found === undefined || (method !== "GET" && method !== "HEAD")) throw nowhere();
  const isZipped = /\bgzip\b/.test(header("accept-encoding") ?? "");
  const body = await (isZipped ? found.zipped() : found.plain());
  const encoding = isZipped ? { "Content-Encoding": "gzip" } : {};
  return { status: 200, headers: { ...headers, ...encoding, "Content-Type": found.type }, body };
};

const headers = {
  "Cache-Control": "public, max-age=300",
  Vary: "Accept-Encoding",
  // Redoc writes its own styles, and searches in a worker that it makes
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; worker-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
