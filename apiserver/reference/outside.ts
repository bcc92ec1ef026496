import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { nowhere, type Outside, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import { type SiteFile, siteOf } from "./site.ts";

/**
 * The reference of the interface, as pages: no key, nothing of another host. `document` gives the OpenAPI document.
 * Source: docs/reference/requests.md#reference.
 */
export const reference = (document: () => Record<string, unknown>): Outside<{ settings: { publicUrl: string } }> => ({
  prefix: "/docs/",
  path: "/docs/",
  bind: ({ settings }) => {
    let files: Map<string, File> | undefined; // made when first asked: most processes never are
    return (request) => {
      files ??= new Map([...siteOf(document(), settings.publicUrl)].map(([path, made]) => [path, fileOf(made)]));
      return answer(files, request);
    };
  },
});

/** A file as it is sent, made when it is asked for first. */
type File = { type: string; plain: () => Promise<string>; zipped: () => Promise<Buffer> };

const fileOf = ({ type, make }: SiteFile): File => {
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
  files: ReadonlyMap<string, File>,
  { method, parts, header }: OutsideRequest,
): Promise<OutsideReply> => {
  const found = files.get(parts.join("/"));
  if (found === undefined || (method !== "GET" && method !== "HEAD")) throw nowhere();
  const isZipped = /\bgzip\b/.test(header("accept-encoding") ?? "");
  const body = await (isZipped ? found.zipped() : found.plain());
  const encoding = isZipped ? { "Content-Encoding": "gzip" } : {};
  return { status: 200, headers: { ...headers, ...encoding, "Content-Type": found.type }, body };
};

const headers = {
  "Cache-Control": "public, max-age=300",
  Vary: "Accept-Encoding",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
