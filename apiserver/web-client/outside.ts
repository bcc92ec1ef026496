import { hash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { nowhere, type Outside, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import built from "./built.json" with { type: "json" };

/**
 * The client for browsers: each file under a name with its hash, which never changes, and `manifest.json`, which names them with
 * what a page puts into `integrity`. Any site may load them. Source: docs/devices.md#web-client.
 */
export const webClient: Outside<object> = {
  prefix: "/sdk/web/",
  path: "/sdk/web/",
  bind: () => {
    let files: ReadonlyMap<string, File> | undefined; // made when first asked: most processes never are
    return (request) => answer((files ??= filesOf(built)), request);
  },
};

/** Files by their names in addresses. */
type File = { text: string; type: string; cache: string; zipped?: Promise<Buffer> };

export type Manifest = { files: Record<string, { path: string; integrity: string; bytes: number }> };

/** Names each file of the client, by the name that it is known under. */
export const manifestOf = (texts: Readonly<Record<string, string>>): Manifest => ({
  files: Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      {
        path: `/sdk/web/${hashedName(name, text)}`,
        integrity: `sha384-${hash("sha384", text, "base64")}`,
        bytes: Buffer.byteLength(text),
      },
    ]),
  ),
});

const hashedName = (name: string, text: string): string => {
  const dot = name.lastIndexOf(".");
  return `${name.slice(0, dot)}.${hash("sha256", text, "hex").slice(0, 16)}${name.slice(dot)}`;
};

const filesOf = (texts: Readonly<Record<string, string>>): ReadonlyMap<string, File> => {
  const scripts = Object.entries(texts).map(([name, text]): [string, File] => [
    hashedName(name, text),
    { text, type: "text/javascript; charset=utf-8", cache: "public, max-age=31536000, immutable" },
  ]);
  const manifest = `${JSON.stringify(manifestOf(texts), null, 2)}\n`;
  const named = { text: manifest, type: "application/json; charset=utf-8", cache: "public, max-age=300" };
  return new Map([...scripts, ["manifest.json", named]]);
};

const answer = async (
  files: ReadonlyMap<string, File>,
  { method, parts, header }: OutsideRequest,
): Promise<OutsideReply> => {
  const found = files.get(parts.join("/"));
  if (found === undefined || (method !== "GET" && method !== "HEAD")) throw nowhere();
  const isZipped = /\bgzip\b/.test(header("accept-encoding") ?? "");
  const body = isZipped ? await (found.zipped ??= promisify(gzip)(found.text)) : found.text;
  return {
    status: 200,
    headers: {
      "Content-Type": found.type,
      "Cache-Control": found.cache,
      Vary: "Accept-Encoding",
      "Access-Control-Allow-Origin": "*", // `integrity` is only checked of what may be read
      "Cross-Origin-Resource-Policy": "cross-origin",
      "X-Content-Type-Options": "nosniff",
      "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
      ...(isZipped && { "Content-Encoding": "gzip" }),
    },
    body,
  };
};
