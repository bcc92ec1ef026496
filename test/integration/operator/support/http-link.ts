import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";

export type LinkRequest = { method: string; path: string; isWatch: boolean };

/**
 * What is answered in the API server's place. `silent`: the request is taken, and nothing comes ever; `lost`: it is
 * carried out, and the connection breaks before the answer.
 */
export type Fault = { status: number; reason: string; retryAfterSeconds?: number } | "silent" | "lost";

/** A link to the API server that reads what passes, and can answer in its place. */
export type HttpLink = {
  /** A kubeconfig that goes through it. */
  kubeconfig: string;
  /** Answers the next `times` requests that match so. */
  answer: (matches: (asked: LinkRequest) => boolean, fault: Fault, times: number) => void;
  /** How many of those are still to come. */
  left: () => number;
  /** From now on the API server answers everything again. */
  allow: () => void;
  /** Ends every watch that is open with an error as the API server sends it in the stream. */
  endWatches: (code: number, reason: string) => void;
  /** Keeps every watch open, and lets nothing through any more. */
  muteWatches: () => void;
  /** Resets every connection. */
  cut: () => void;
  close: () => Promise<void>;
};

export const httpLinkTo = async (kubeconfig: string): Promise<HttpLink> => {
  const content = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const { server: address, "certificate-authority-data": ca } = content.clusters[0]!.cluster;
  const agent = new Agent({ keepAlive: true, ca: Buffer.from(ca, "base64") });
  const target = new URL(address);
  const rules: { matches: (asked: LinkRequest) => boolean; fault: Fault; times: number }[] = [];
  const watches = new Set<{ near: ServerResponse; far: IncomingMessage }>();

  const faultFor = (asked: LinkRequest): Fault | null => {
    const rule = rules.find(({ matches, times }) => times > 0 && matches(asked));
    if (rule === undefined) return null;
    rule.times--;
    return rule.fault;
  };
  const pass = (asked: LinkRequest & { isLost: boolean }, near: IncomingMessage, answer: ServerResponse): void => {
    const options = { host: target.hostname, port: target.port, path: near.url, method: near.method, agent };
    const far = request({ ...options, headers: { ...near.headers, host: target.host } }, (got) => {
      if (asked.isLost) return void got.resume().once("end", () => answer.destroy());
      answer.writeHead(got.statusCode ?? 500, got.headers);
      answer.flushHeaders();
      got.pipe(answer);
      const watch = { near: answer, far: got };
      if (asked.isWatch) watches.add(watch);
      answer.on("close", () => {
        watches.delete(watch);
        got.destroy();
      });
      got.on("error", () => answer.destroy());
    });
    far.on("error", () => answer.destroy());
    near.pipe(far);
  };
  const server = createServer((near, answer) => {
    const path = near.url ?? "";
    const asked = { method: near.method ?? "GET", path, isWatch: path.includes("watch=true") };
    const fault = faultFor(asked);
    if (fault === null || fault === "lost") pass({ ...asked, isLost: fault === "lost" }, near, answer);
    else if (fault !== "silent") refuse(answer, fault);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number }; // it listens on TCP
  const file = join(tmpdir(), `herald-http-link-${process.pid}-${port}.json`);
  for (const { cluster } of content.clusters) cluster.server = `http://127.0.0.1:${port}`;
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });

  return {
    kubeconfig: file,
    answer: (matches, fault, times) => void rules.push({ matches, fault, times }),
    left: () => rules.reduce((sum, { times }) => sum + times, 0),
    allow: () => void rules.splice(0),
    endWatches: (code, reason) => {
      const object = { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message: reason };
      for (const { near, far } of watches) {
        far.unpipe(near);
        near.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      }
    },
    muteWatches: () => {
      for (const { near, far } of watches) {
        far.unpipe(near);
        far.resume();
      }
    },
    cut: () => server.closeAllConnections(),
    close: async () => {
      server.closeAllConnections();
      agent.destroy();
      server.close();
    },
  };
};

type Kubeconfig = { clusters: { cluster: { server: string; "certificate-authority-data": string } }[] };

const refuse = (answer: ServerResponse, { status, reason, retryAfterSeconds }: Exclude<Fault, string>): void => {
  const after = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  answer.writeHead(status, { "content-type": "application/json", ...after });
  answer.end(
    JSON.stringify({ kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message: reason }),
  );
};
