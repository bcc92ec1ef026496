import { createHash } from "node:crypto";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { derivedIdAt } from "#core/domain/ids.ts";
import { invalid } from "#core/errors.ts";
import type { CreateEventsExport, ExportFilters } from "#core/schema/exports/export.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import type { Exports } from "#core/storage/exports/exports.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { Caller } from "../access/caller.ts";
import type { addExport } from "./add.ts";
import { checkedFilters } from "./checks.ts";

export type OfMessageDeps = {
  exports: Pick<Exports, "latest">;
  add: ReturnType<typeof addExport>;
  appOf: (id: string) => Promise<AppRow | null>;
  clock: Clock;
};

type History = { isFresh: boolean; events?: "sent" | "clicked" | undefined; email?: string | undefined };

/**
 * What became of a message's recipients: the latest export that has not ended or can be downloaded, else a new one.
 * `isFresh` has a new one made of one that can be downloaded, an `email` of one that is not mailed to that. Source: docs/reference/exports.md#history.
 */
export const historyOf =
  (deps: OfMessageDeps) =>
  async (caller: Caller, message: MessageRow, { isFresh, events = "sent", email }: History): Promise<ExportRow> => {
    if (email !== undefined) await requireListed(deps, message, email);
    const isClicked = events === "clicked";
    const filters: ExportFilters = { message_id: message._id, ...(isClicked && { status: "clicked" }) };
    const asked = { type: "deliveries", filters, subject: `history/${message._id}/${events}` } as const;
    const latest = await latestOf(deps, message, asked.subject);
    const isMailed = email === undefined || latest?.mail_to === email;
    if (latest !== null && isMailed && isUsable(latest, deps.clock.now(), isFresh)) return latest;
    return make(deps, { caller, message, latest }, { ...asked, mailTo: email, operation: "exports.history" });
  };

/** @throws ValidationError for an address that the app does not list */
const requireListed = async ({ appOf }: OfMessageDeps, message: MessageRow, email: string): Promise<void> => {
  const app = await appOf(message.app_id);
  if (app === null || !settingsOf(app).export_emails.includes(email))
    throw invalid("email", "is none of the app's setting export_emails");
};

/** What happened to a message's deliveries. The same body within a minute is the same export. */
export const eventsOf =
  (deps: OfMessageDeps) =>
  async (caller: Caller, message: MessageRow, body: CreateEventsExport): Promise<ExportRow> => {
    const filters = checkedFilters({ type: "message_events", filters: { ...body, message_id: message._id } });
    const subject = `events/${message._id}/${hashOf(filters)}`;
    const latest = await latestOf(deps, message, subject);
    if (latest !== null && deps.clock.now().getTime() - latest.created_at.getTime() < minuteMs) return latest;
    const asked = { type: "message_events", filters, subject, operation: "exports.events" } as const;
    return make(deps, { caller, message, latest }, asked);
  };

/** In which the same request is the same export. */
export const minuteMs = 60_000;

const latestOf = ({ exports }: OfMessageDeps, { tenant_id: tenantId, app_id: appId }: MessageRow, subject: string) =>
  exports.latest({ tenantId, appId }, subject);

/** Whether it has not ended, or can be downloaded and nothing newer is asked for. */
export const isUsable = ({ status, expires_at }: ExportRow, now: Date, isFresh: boolean): boolean => {
  if (status === "pending" || status === "running") return true;
  return !isFresh && status === "completed" && expires_at !== null && expires_at > now;
};

type Place = { caller: Caller; message: MessageRow; latest: ExportRow | null };
type NewExport = Pick<Parameters<OfMessageDeps["add"]>[0], "type" | "filters" | "operation" | "mailTo"> & {
  subject: string;
};

/** Its id follows from the one before, so that requests that come at once make one. */
const make = (
  { add, clock }: OfMessageDeps,
  { caller, message, latest }: Place,
  wanted: NewExport,
): Promise<ExportRow> => {
  const minute = new Date(Math.floor(clock.now().getTime() / minuteMs) * minuteMs);
  const id = derivedIdAt(
    "export",
    minute,
    wanted.subject,
    latest?._id ?? "",
    ...(wanted.mailTo ? [wanted.mailTo] : []),
  );
  const of = ofRow(message);
  return add({ ...wanted, of, caller, id, compression: "none" });
};

const hashOf = (filters: ExportFilters): string => {
  const sorted = Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(sorted)).digest("base64url").slice(0, 22);
};
