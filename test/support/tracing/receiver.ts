import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { readFields } from "./protobuf.ts";

/** A span as a receiver of OTLP gets it; ids in hex, `parent` "" for the first of a trace. */
export type ReceivedSpan = {
  service: string;
  traceId: string;
  spanId: string;
  parent: string;
  name: string;
  kind: (typeof kinds)[number];
  attributes: Record<string, string | number>;
  /** Span ids of other contexts. */
  links: string[];
  isFailed: boolean;
};

/** A receiver of OTLP over HTTP in the process of the test. */
export type OtlpReceiver = {
  url: string;
  spans: () => ReceivedSpan[];
  /** Every body that came, as it came. */
  bodies: () => Buffer[];
  requests: () => { path: string; headers: IncomingHttpHeaders }[];
  /** What it answers from now on, and after how long; null never answers. */
  answer: (status: number | null, afterMs?: number) => void;
  stop: () => Promise<void>;
};

export const startOtlpReceiver = async (): Promise<OtlpReceiver> => {
  const bodies: Buffer[] = [];
  const requests: { path: string; headers: IncomingHttpHeaders }[] = [];
  const spans: ReceivedSpan[] = [];
  let status: number | null = 200;
  let delayMs = 0;
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push({ path: request.url ?? "", headers: request.headers });
    const body = await buffer(request);
    bodies.push(body);
    if (status === null) return;
    await sleep(delayMs);
    if (response.destroyed) return; // its sender has given it up
    if (status === 200) spans.push(...readExport(body));
    response.writeHead(status, { "content-type": "application/x-protobuf" }).end();
  };
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // sound: it listens on TCP
    spans: () => spans,
    bodies: () => bodies,
    requests: () => requests,
    answer: (next, afterMs = 0) => {
      [status, delayMs] = [next, afterMs];
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const kinds = ["unspecified", "internal", "server", "client", "producer", "consumer"] as const;

/** Source: opentelemetry-proto 1.7, collector/trace/v1 and trace/v1. */
const readExport = (body: Buffer): ReceivedSpan[] =>
  parts(body, 1).flatMap((ofResource) => {
    const resource = attributesOf(parts(ofResource, 1).flatMap((one) => parts(one, 1)));
    const spans = parts(ofResource, 2).flatMap((ofScope) => parts(ofScope, 2));
    return spans.map((span) => spanOf(span, String(resource["service.name"])));
  });

const spanOf = (span: Buffer, service: string): ReceivedSpan => ({
  service,
  traceId: hex(span, 1),
  spanId: hex(span, 2),
  parent: hex(span, 4),
  name: parts(span, 5).join(""),
  kind: kinds[number(span, 6)] ?? "unspecified",
  attributes: attributesOf(parts(span, 9)),
  links: parts(span, 13).map((link) => hex(link, 2)),
  isFailed: parts(span, 15).some((status) => number(status, 3) === 2),
});

const attributesOf = (pairs: readonly Buffer[]): Record<string, string | number> =>
  Object.fromEntries(pairs.map((pair) => [parts(pair, 1).join(""), valueOf(parts(pair, 2)[0] ?? Buffer.alloc(0))]));

const valueOf = (any: Buffer): string | number => parts(any, 1)[0]?.toString() ?? number(any, 3);

const parts = (message: Buffer, field: number): Buffer[] =>
  readFields(message).flatMap(({ number, value }) => (number === field && Buffer.isBuffer(value) ? [value] : []));

const hex = (message: Buffer, field: number): string => parts(message, field)[0]?.toString("hex") ?? "";

const number = (message: Buffer, field: number): number =>
  Number(readFields(message).find((one) => one.number === field)?.value ?? 0);
