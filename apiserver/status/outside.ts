import { nowhere, type Outside, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import type { Board } from "./board.ts";
import { feed } from "./feed.ts";
import { page } from "./page.ts";

type StatusPlatform = { status: Pick<Board, "now">; settings: { publicUrl: string } };

/** The status page and its feed, which need no key. Source: docs/reference/status.md#page. */
export const statusPage: Outside<StatusPlatform> = {
  prefix: "/status/",
  path: "/status/",
  bind:
    ({ status, settings }) =>
    async (request) =>
      answer(request, { status, publicUrl: settings.publicUrl }),
};

type Deps = { status: Pick<Board, "now">; publicUrl: string };

const answer = ({ method, parts }: OutsideRequest, { status, publicUrl }: Deps): OutsideReply => {
  const [name = "", ...more] = parts;
  if ((method !== "GET" && method !== "HEAD") || more.length > 0) throw nowhere();
  const address = `${publicUrl.replace(/\/+$/, "")}/status/`;
  switch (name) {
    case "":
      return { status: 200, headers: pageHeaders, body: page(status.now()) };
    case "feed.atom":
      return { status: 200, headers: feedHeaders, body: feed(status.now(), address) };
    default:
      throw nowhere();
  }
};

const common = { "Cache-Control": "public, max-age=5" };

const feedHeaders = { ...common, "Content-Type": "application/atom+xml; charset=utf-8" };

const pageHeaders = {
  ...common,
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
};
