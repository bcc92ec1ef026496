import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { readBounded } from "#core/runtime/http/read-bounded.ts";
import type { GuardedAgents } from "./guarded-agents.ts";

export type Call = {
  method: "GET" | "POST" | "DELETE";
  url: URL;
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** Of the answer; a larger one has no body here. */
  mostBytes: number;
};

export type CallAnswer = { status: number; headers: IncomingHttpHeaders; body: Buffer | null };

const idleMs = 60_000;

/** Makes one request through guarded agents, and reads the answer within its bound. */
export const callStore = async (agents: GuardedAgents, call: Call, signal: AbortSignal): Promise<CallAnswer> => {
  const { method, url, headers = {}, body } = call;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
  const isSecure = url.protocol === "https:";
  const options = { method, headers: { ...headers, ...length }, signal, timeout: idleMs };
  const asked = isSecure
    ? httpsRequest(url, { ...options, agent: agents.https }, resolve)
    : httpRequest(url, { ...options, agent: agents.http }, resolve);
  asked.on("error", reject);
  asked.on("timeout", () => asked.destroy(new Error(`nothing was heard for ${idleMs / 1_000} s`)));
  asked.end(body);
  return read(await promise, call.mostBytes);
};

const read = async (answer: IncomingMessage, mostBytes: number): Promise<CallAnswer> => {
  const { statusCode: status = 0, headers } = answer;
  try {
    return { status, headers, body: await readBounded(answer, mostBytes) };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    answer.destroy();
    return { status, headers, body: null };
  }
};
