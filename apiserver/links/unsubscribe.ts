import { maskAddress } from "#core/channels/addresses.ts";
import { nowhere, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import { page } from "./page.ts";
import { record, uncached } from "./recording.ts";
import { type LinkDeps, linkOf } from "./tracked.ts";

/**
 * `GET` shows a page with a button and changes nothing: scanners follow links. `POST`, by that button or by a mail program,
 * unsubscribes. Source: RFC 8058 3.
 */
export const leaving =
  (deps: LinkDeps) =>
  async (request: OutsideRequest): Promise<OutsideReply> => {
    const link = linkOf(deps, "u", request, ["GET", "HEAD", "POST"]);
    const app = await deps.app(link.appId);
    if (app === null) throw nowhere();
    const address = await deps.address(app, link.to);
    const who = address === null ? "You" : maskAddress("email", address);
    if (request.method !== "POST") return shown(page.question(who, app.name));
    const source = isOneClick(await request.body(mostBytes)) ? "one_click" : "link";
    const owner = { tenantId: app.tenant_id, ...link };
    await record(deps, owner, { kind: "unsubscribed", source, reason: null, categories: null }, address);
    return shown(page.done(who, app.name));
  };

const mostBytes = 4_096;

/** Sent as a form in either encoding. Source: RFC 8058 3.2. */
const isOneClick = (body: Buffer): boolean => /List-Unsubscribe(=|"\s+)One-Click/i.test(body.toString("latin1"));

const shown = (html: string): OutsideReply => ({ status: 200, headers, body: html });

const headers = {
  ...uncached,
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
};
