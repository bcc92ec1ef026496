import type { Db } from "mongodb";
import { namesProgram } from "#core/channels/kit/programs.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { ReceiptFact } from "#core/domain/messages/receipts.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type LinkRow, links } from "#core/storage/links/links.ts";
import { nowhere, type Outside, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import { counting, type LinkOwner, type RecordingDeps, record, recordSoon, uncached } from "./recording.ts";

export type ShortLinkDeps = RecordingDeps & { byCode: (code: string) => Promise<LinkRow | null> };

/** Where the short links of text messages lead. Source: docs/reference/texts.md#short-links. */
export const shortLinks: Outside<{ db: Db; callbacks: CallbackQueue; clock: Clock; log: Log }> = {
  prefix: "/l/",
  path: "/l/{code}",
  bind: ({ db, callbacks, clock, log }) =>
    follow({ byCode: links(db).byCode, keep: callbacks.keep, isFew: counting(clock), clock, log }),
};

/** Leads on to what was sent, and records the click. Only addresses that a message had are led to. */
export const follow =
  (deps: ShortLinkDeps) =>
  async ({ method, parts, header }: OutsideRequest): Promise<OutsideReply> => {
    const [code = "", ...more] = parts;
    const isCalled = (method === "GET" || method === "HEAD") && more.length === 0 && /^[A-Za-z0-9]{11}$/.test(code);
    const link = isCalled ? await deps.byCode(code) : null;
    if (link === null) throw nowhere();
    if (method === "GET") {
      const click = clickOf(link, header("user-agent") ?? "");
      await recordSoon(deps, link.delivery_id, () => record(deps, ownerOf(link), click));
    }
    return { status: 302, headers: { ...uncached, Location: new URL(link.url).href }, body: "" };
  };

const ownerOf = ({ tenant_id: tenantId, app_id: appId, delivery_id: deliveryId }: LinkRow): LinkOwner => ({
  tenantId,
  appId,
  deliveryId,
});

const clickOf = ({ url }: LinkRow, userAgent: string): ReceiptFact => ({
  kind: "clicked",
  machine: namesProgram(userAgent),
  url,
  buttonId: null,
});
