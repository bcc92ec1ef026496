import { once } from "node:events";
import { connect } from "node:http2";
import { fileURLToPath } from "node:url";
import wrapper from "http2-wrapper";
import { apnsBody, renderApns } from "#core/channels/ios-push/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Recipient } from "#core/domain/messages/outcome.ts";
import type { Credentials } from "../../../dev/simulators/kit/credentials.ts";
import { apns, apnsIdOf } from "../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import { startSink } from "../sink.ts";
import { samplePush } from "./sample-push.ts";

export type SenderResult = {
  variant: Variant;
  cpuUsPerPush: number;
  perSecond: number;
  accepted: number;
  repeated: number;
};

/** `herald` is what the dispatcher uses; the others send the same requests without retry, deadline or outcome. */
export type Variant = "herald" | "node:http2" | "http2-wrapper agent" | "http2-wrapper request";

export type SenderBench = { variant?: Variant; pushes?: number; warmUp?: number; underWay?: number };

/**
 * CPU of the sending process for each push: 50,000 pushes over TLS to the APNs simulator in another process, each with
 * its own token, apns-id and payload (the delivery id stands in it), `underWay` of them at a time, after `warmUp` more
 * for connection and compiler.
 */
export const benchApnsSender = async (bench: SenderBench = {}): Promise<SenderResult> => {
  const { variant = "herald", pushes = 50_000, warmUp = 5_000, underWay = 100 } = bench;
  const sink = await startSink();
  const sender = senders[variant](sink.url, sink.credentials);
  const recipients = Array.from({ length: pushes }, (_, n) => recipient(n));
  const before = Array.from({ length: warmUp }, (_, n) => recipient(pushes + n));
  await inParallel(before, underWay, sender.send);
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await inParallel(recipients, underWay, sender.send);
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { accepted, repeated_keys: repeated } = await sink.counts();
  await sender.close();
  sink.stop();
  const cpuUsPerPush = (user + system) / pushes;
  return { variant, cpuUsPerPush, perSecond: (pushes / tookMs) * 1000, accepted: accepted - warmUp, repeated };
};

const inParallel = async <T>(items: readonly T[], width: number, run: (item: T) => Promise<unknown>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await run(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
};

const recipient = (n: number): Recipient => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address: n.toString(16).padStart(64, "0"),
});

type Sender = { send: (to: Recipient) => Promise<unknown>; close: () => Promise<void> };

const topic = "com.example.app";
const push = renderApns(samplePush);

const herald = (url: string, { tls, apns: keys }: Credentials): Sender => {
  const provider = apns({
    account: { ...keys, bundleId: topic },
    baseUrl: url,
    open: (options) => http2Pool({ ca: tls.cert, ...options }),
    tokens: apnsTokens(systemClock),
    clock: systemClock,
  });
  const never = new AbortController().signal;
  return { send: (to) => provider.send(push, to, never), close: provider.close };
};

const requestOf = ({ apns: keys }: Credentials) => {
  const authorization = `bearer ${apnsTokens(systemClock).current(keys)}`;
  return (to: Recipient) => ({
    path: `/3/device/${to.address}`,
    headers: {
      authorization,
      "apns-id": apnsIdOf(to.deliveryId),
      "apns-topic": topic,
      "apns-push-type": "alert",
      "apns-priority": "10",
      "apns-expiration": String(Math.floor(Date.now() / 1000) + 3600),
    },
    body: apnsBody(push, to.deliveryId),
  });
};

const raw = (url: string, credentials: Credentials): Sender => {
  const session = connect(url, { ca: credentials.tls.cert });
  const make = requestOf(credentials);
  const send = (to: Recipient): Promise<unknown> => {
    const { path, headers, body } = make(to);
    const stream = session.request({ ":method": "POST", ":path": path, ...headers });
    stream.resume().end(body);
    return once(stream, "close");
  };
  return { send, close: async () => session.close() };
};

/** One agent for all; `request` also resolves the protocol of the origin by itself. */
const wrapped =
  (kind: "agent" | "request") =>
  (url: string, credentials: Credentials): Sender => {
    const agent = new wrapper.Agent();
    const make = requestOf(credentials);
    const send = async (to: Recipient): Promise<unknown> => {
      const { path, headers, body } = make(to);
      const tls = { ca: credentials.tls.cert };
      if (kind === "request") {
        const asked = wrapper.request(new URL(path, url), { method: "POST", headers, agent, ...tls }, (reply) =>
          reply.resume(),
        );
        asked.end(body);
        return once(asked, "close");
      }
      const stream = await agent.request(url, tls, { ":method": "POST", ":path": path, ...headers });
      stream.resume().end(body);
      return once(stream, "close");
    };
    return { send, close: async () => agent.destroy() };
  };

const senders: Record<Variant, (url: string, credentials: Credentials) => Sender> = {
  herald,
  "node:http2": raw,
  "http2-wrapper agent": wrapped("agent"),
  "http2-wrapper request": wrapped("request"),
};

// node test/bench/messages/apns-sender.ts [pushes] [under way]
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [pushes = 50_000, underWay = 100] = process.argv.slice(2).map(Number);
  for (const variant of Object.keys(senders) as Variant[]) {
    const result = await benchApnsSender({ variant, pushes, underWay });
    const { cpuUsPerPush, perSecond, accepted, repeated } = result;
    console.log(
      `${variant.padEnd(24)}${cpuUsPerPush.toFixed(1).padStart(6)} µs CPU a push ${perSecond.toFixed(0).padStart(7)}/s` +
        `  accepted ${accepted}, repeated ${repeated}`,
    );
  }
}
