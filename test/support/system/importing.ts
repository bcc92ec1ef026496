import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Import } from "#core/schema/imports/import.ts";
import type { ImportRow } from "#core/storage/imports/imports.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";
import { testDir } from "../../../dev/files/paths.ts";
import type { ReplyBody } from "../api/api.ts";
import { checkReply } from "../api/openapi-check.ts";
import type { TestServers } from "../servers/servers.ts";
import { until } from "../until.ts";
import { testCredentials } from "./credentials.ts";
import { type System, type SystemProgram, startSystem } from "./system.ts";

export type ImportSystem = Awaited<ReturnType<typeof startImporting>>;

/** What a caller of an app does. */
export type Importer = ReturnType<typeof clientOf>;

/** A file of an upload; `isTypeLast` sends the type behind it. */
export type Upload = { type: string; content: string | Uint8Array; name?: string; isTypeLast?: boolean; key?: string };

export type ImportReply = { status: number; body: ReplyBody & Partial<Import> };

/** An installation with an apiserver, and the files of its imports in a folder, or where `env` says. */
export const startImporting = async (
  servers: TestServers,
  { env = {}, plan = {} }: { env?: Record<string, string>; plan?: Partial<PlanRow> } = {},
) => {
  const dir = await mkdtemp(join(testDir, "imports-"));
  const apns = { url: "https://127.0.0.1:9", credentials: testCredentials() }; // nothing is pushed
  const system = await startSystem({ ...servers, apns, plan, env: { HERALD_FILES_DIR: dir, ...env } });
  const apiserver = await system.start("apiserver");
  return {
    ...system,
    ...clientOf(system, apiserver),
    apiserver,
    /** The same for another organisation. */
    other: async () => clientOf(await system.another(), apiserver),
    filesDir: dir,
    imports: system.db.collection<ImportRow>("imports"),
    users: system.db.collection<UserRow>("users"),
    suppressions: system.db.collection<SuppressionRow>("suppressions"),
    subscriptions: system.db.collection<SubscriptionRow>("subscriptions"),
    stop: async (): Promise<void> => {
      await system.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
};

const clientOf = ({ app, token }: System, { url }: SystemProgram) => {
  const ofApp = `/v1/apps/${app._id}/imports`;
  const call = async (method: string, path: string, init: RequestInit = {}): Promise<ImportReply> => {
    const headers = { Authorization: `Bearer ${token}`, ...(init.headers as Record<string, string>) };
    const response = await fetch(url + path, { ...init, method, headers });
    const body = (await response.json()) as ImportReply["body"]; // checked by the document
    checkReply(method, path, response.status, body);
    return { status: response.status, body };
  };
  const upload = ({ type, content, name = "file.csv", isTypeLast = false, key }: Upload): Promise<ImportReply> => {
    const form = new FormData();
    if (!isTypeLast) form.set("type", type);
    form.set("file", new Blob([typeof content === "string" ? content : Buffer.from(content)]), name);
    if (isTypeLast) form.set("type", type);
    return call("POST", ofApp, { body: form, ...(key !== undefined && { headers: { "Idempotency-Key": key } }) });
  };
  const show = async (id: string): Promise<Import> => (await call("GET", `${ofApp}/${id}`)).body as Import;
  const ended = async (id: string, mostMs = 60_000): Promise<Import> => {
    let found = await show(id);
    await until(async () => {
      found = await show(id);
      return found.status === "completed" || found.status === "failed";
    }, mostMs);
    return found;
  };
  return {
    app,
    token,
    call,
    ofApp,
    upload,
    show,
    ended,
    /** Imports a file, and waits for its end. */
    take: async (file: Upload, mostMs?: number): Promise<Import> => {
      const { status, body } = await upload(file);
      if (status !== 200) throw new Error(`the upload was refused: ${JSON.stringify(body)}`);
      return ended(body.id, mostMs);
    },
    /** The lines of a report, without its header. */
    report: async ({ error_report_url: address }: Import): Promise<string[]> => {
      const { pathname, search, origin } = new URL(address ?? "");
      const from = pathname.startsWith("/files/") ? url : origin;
      const text = await (await fetch(`${from}${pathname}${search}`)).text();
      return text.trimEnd().split("\r\n").slice(1);
    },
  };
};
