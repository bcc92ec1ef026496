import { gunzipSync } from "node:zlib";
import { parseString } from "fast-csv";
import { s3Settings } from "../../../dev/servers/s3.ts";
import type { ReplyBody } from "../api/api.ts";
import { type TestServers, testServers } from "../servers/servers.ts";
import { until } from "../until.ts";
import { testCredentials } from "./credentials.ts";
import { type System, type SystemProgram, startSystem } from "./system.ts";

/** An installation that keeps its files in S3 and sends nothing. */
export const startExporting = async (
  s3Url?: string,
  env: Record<string, string> = {},
): Promise<System & { servers: TestServers; s3Prefix: string }> => {
  const servers = await testServers();
  const apns = { url: "https://127.0.0.1:9", credentials: testCredentials() }; // nothing is pushed
  const s3Prefix = `exports-${process.pid}-${Date.now()}/`;
  const files = { ...s3Settings(s3Url ?? servers.s3Url), HERALD_S3_PREFIX: s3Prefix };
  return { ...(await startSystem({ ...servers, apns, env: { ...files, ...env } })), servers, s3Prefix };
};

export type ExportReply = ReplyBody & {
  row_count: number | null;
  error: string | null;
  download_url: string | null;
  expires_at: string | null;
  size_bytes: number | null;
};

/** Calls of the REST interface about exports, with the installation's key. */
export const exportCalls = (system: Pick<System, "token" | "app">, api: Pick<SystemProgram, "url">) => {
  const call = async (method: string, path: string, body?: object): Promise<ExportReply & { httpStatus: number }> => {
    const reply = await fetch(api.url + path, {
      method,
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { ...((await reply.json()) as ExportReply), httpStatus: reply.status }; // the document's tests check replies
  };
  const path = `/v1/apps/${system.app._id}/exports`;
  const find = (id: string) => call("GET", `${path}/${id}`);
  return {
    call,
    find,
    create: (body: object) => call("POST", path, body),
    /** Waits until an export has ended. */
    ended: async (id: string, withinMs = 30_000): Promise<ExportReply> => {
      let row = await find(id);
      const hasEnded = async (): Promise<boolean> => {
        row = await find(id);
        return row.status === "completed" || row.status === "failed";
      };
      await until(hasEnded, withinMs, 50);
      return row;
    },
  };
};

/** The bytes at an address, unpacked when the file is packed. */
export const downloaded = async (address: string | null): Promise<string> => {
  const reply = await fetch(address ?? "");
  if (!reply.ok) throw new Error(`${reply.status}`);
  const bytes = Buffer.from(await reply.arrayBuffer());
  return (reply.headers.get("content-type") === "application/gzip" ? gunzipSync(bytes) : bytes).toString("utf8");
};

/** The rows of a file by another program's rules than those that wrote it. */
export const rowsOf = (text: string): Promise<Record<string, string>[]> =>
  new Promise((done, fail) => {
    const rows: Record<string, string>[] = [];
    parseString<Record<string, string>, Record<string, string>>(text, { headers: true })
      .on("error", fail)
      .on("data", (row) => rows.push(row))
      .on("end", () => done(rows));
  });
