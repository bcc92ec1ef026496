import { type Link, type LinkKind, readLink } from "#core/channels/email/links.ts";
import { isMachine } from "#core/channels/email/machines.ts";
import type { ReceiptFact } from "#core/domain/messages/receipts.ts";
import type { Signer } from "#core/domain/signer.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { nowhere, type OutsideReply, type OutsideRequest } from "../http/outside.ts";
import { type RecordingDeps, record, recordSoon, uncached } from "./recording.ts";

export type LinkDeps = RecordingDeps & {
  signer: Pick<Signer, "isSigned">;
  app: (id: string) => Promise<Pick<AppRow, "_id" | "tenant_id"> | null>;
};

/** Answers with the picture of a mail, and records that it was opened. */
export const opened =
  (deps: LinkDeps) =>
  async (request: OutsideRequest): Promise<OutsideReply> => {
    const link = linkOf(deps, "o", request);
    await recordOf(deps, request, link, { kind: "opened", ...reader(request) });
    return { status: 200, headers: { ...uncached, "Content-Type": "image/gif" }, body: gif };
  };

/** Leads on to the target, and records the click. Only targets that we signed are led to. */
export const redirected =
  (deps: LinkDeps) =>
  async (request: OutsideRequest): Promise<OutsideReply> => {
    const link = linkOf(deps, "c", request);
    const { machine } = reader(request);
    await recordOf(deps, request, link, { kind: "clicked", machine, url: link.to, buttonId: null });
    return { status: 302, headers: { ...uncached, Location: new URL(link.to).href }, body: "" };
  };

/** What a link says. @throws NotFound for one that is not ours, whatever is wrong with it */
export const linkOf = (
  { signer }: Pick<LinkDeps, "signer">,
  kind: LinkKind,
  { method, parts }: OutsideRequest,
  methods: readonly string[] = ["GET", "HEAD"],
): Link => {
  const [token = "", ...more] = parts;
  const isCalled = methods.includes(method) && more.length === 0;
  const link = isCalled ? readLink(signer, kind, kind === "o" ? token.replace(/\.gif$/, "") : token) : null;
  if (link === null || (kind === "c") !== URL.canParse(link.to)) throw nowhere();
  return link;
};

/** Of one pixel, which is transparent. Source: GIF89a. */
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

/** Nothing is recorded of a link whose app is gone. */
const recordOf = async (deps: LinkDeps, { method }: OutsideRequest, link: Link, fact: ReceiptFact): Promise<void> => {
  if (method === "HEAD") return;
  await recordSoon(deps, link.deliveryId, async () => {
    const app = await deps.app(link.appId);
    if (app !== null) await record(deps, { tenantId: app.tenant_id, ...link }, fact);
  });
};

const reader = ({ header }: OutsideRequest): { machine: boolean; userAgent: string | null } => ({
  machine: isMachine(header),
  userAgent: header("user-agent")?.slice(0, 500) ?? null,
});
