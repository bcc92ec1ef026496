import { createECDH, randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import webPushLibrary from "web-push";
import { renderFcm } from "#core/channels/android-push/render.ts";
import { renderHms } from "#core/channels/hms-push/render.ts";
import { renderApns } from "#core/channels/ios-push/render.ts";
import { renderWebPush } from "#core/channels/web-push/render.ts";
import { systemClock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Outcome, Recipient } from "#core/domain/messages/outcome.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { fcm } from "../../../dispatcher/channels/android-push/fcm.ts";
import { hms } from "../../../dispatcher/channels/hms-push/hms.ts";
import { apns } from "../../../dispatcher/channels/ios-push/apns.ts";
import { apnsTokens } from "../../../dispatcher/channels/ios-push/apns-tokens.ts";
import { webPush } from "../../../dispatcher/channels/web-push/web-push.ts";
import { guardedClient } from "../../../dispatcher/net/guarded/client.ts";
import { http2Pool } from "../../../dispatcher/net/http2/pool.ts";
import type { OpenTransport } from "../../../dispatcher/net/transport.ts";
import { type Sink, startSink } from "../sink.ts";
import type { SinkProvider } from "./push-sink.ts";
import { samplePush } from "./sample-push.ts";

export type PushBench = { pushes: number; warmUp: number };

export type PushResult = { cpuUsPerPush: number; perSecond: number; accepted: number; repeated: number };

const underWay = 64; // recipients of a chunk that the dispatcher has under way at once

/**
 * CPU of the sending process for each push of the dispatcher's own sender, over TLS to the provider's simulator in another
 * process: each push has a recipient of its own, after `warmUp` more for connection and compiler.
 */
export const benchPushSender = async (provider: SinkProvider, { pushes, warmUp }: PushBench): Promise<PushResult> => {
  const sink = await startSink({ provider });
  const sender = senders[provider](sink);
  const send = async (to: Recipient): Promise<void> => {
    const { kind } = await sender.send(to);
    if (kind !== "sent") throw new Error(`${provider}: a push ended as ${kind}`);
  };
  const recipients = Array.from({ length: pushes + warmUp }, (_, n) => sender.recipient(n + 1)); // 0 is nobody's token
  await mapBounded(recipients.slice(pushes), underWay, send);
  const cpuBefore = process.cpuUsage();
  const startedMs = performance.now();
  await mapBounded(recipients.slice(0, pushes), underWay, send);
  const tookMs = performance.now() - startedMs;
  const { user, system } = process.cpuUsage(cpuBefore);
  const { accepted, repeated_keys: repeated } = await sink.counts();
  await sender.close();
  sink.stop();
  const cpuUsPerPush = (user + system) / pushes;
  return { cpuUsPerPush, perSecond: (pushes / tookMs) * 1000, accepted: accepted - warmUp, repeated };
};

type Sender = {
  recipient: (n: number) => Recipient;
  send: (to: Recipient) => Promise<Outcome>;
  close: () => Promise<void>;
};

const clock = systemClock;
const never = new AbortController().signal;

const to = (n: number, address: string): Recipient => ({
  deliveryId: derivedId("delivery", String(n)),
  subscriptionId: derivedId("subscription", String(n)),
  address,
});

const opening =
  ({ credentials: { tls } }: Sink): OpenTransport =>
  (options) =>
    http2Pool({ ca: tls.cert, ...options });

const senders: Record<SinkProvider, (sink: Sink) => Sender> = {
  apns: (sink) => {
    const account = { ...sink.credentials.apns, bundleId: "com.example.app" };
    const provider = apns({ account, baseUrl: sink.url, open: opening(sink), tokens: apnsTokens(clock), clock });
    const push = renderApns(samplePush);
    const recipient = (n: number): Recipient => to(n, n.toString(16).padStart(64, "0"));
    return { recipient, send: (one) => provider.send(push, one, never), close: provider.close };
  },
  fcm: (sink) => {
    const account = { ...sink.credentials.fcm, tokenUri: `${sink.url}/token` };
    const provider = fcm({ account, baseUrl: sink.url, open: opening(sink), clock });
    const push = renderFcm(samplePush);
    const recipient = (n: number): Recipient => to(n, `device-${n}:APA91b${"x".repeat(130)}`);
    return { recipient, send: (one) => provider.send(push, one, never), close: provider.close };
  },
  hms: (sink) => {
    const account = { ...sink.credentials.hms, hasReceipts: false };
    const provider = hms({ account, urls: { push: sink.url, oauth: sink.url }, open: opening(sink), clock });
    const push = renderHms(samplePush, null);
    const recipient = (n: number): Recipient => to(n, `device-${n}-${"x".repeat(120)}`);
    return { recipient, send: (one) => provider.send(push, one, never), close: provider.close };
  },
  webPush: ({ url, credentials: { tls } }) => {
    const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }), ca: tls.cert });
    const account = { subject: "mailto:ops@example.com", ...webPushLibrary.generateVAPIDKeys() };
    const provider = webPush({ account, client, clock });
    const push = renderWebPush(samplePush);
    const browsers = Array.from({ length: 100 }, () => ({
      p256dh: createECDH("prime256v1").generateKeys("base64url"),
      auth: randomBytes(16).toString("base64url"),
    }));
    const recipient = (n: number): Recipient => {
      const webKeys = browsers[n % browsers.length];
      return { ...to(n, `${url}/push/${n}`), ...(webKeys && { webKeys }) };
    };
    const close = async (): Promise<void> => {
      await provider.close();
      client.close();
    };
    return { recipient, send: (one) => provider.send(push, one, never), close };
  },
};

// node test/bench/messages/push-senders.ts [pushes]
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [pushes = 20_000] = process.argv.slice(2).map(Number);
  for (const provider of Object.keys(senders) as SinkProvider[]) {
    const { cpuUsPerPush, perSecond, accepted, repeated } = await benchPushSender(provider, { pushes, warmUp: 2_000 });
    console.log(
      `${provider.padEnd(12)}${cpuUsPerPush.toFixed(1).padStart(6)} µs CPU a push ${perSecond.toFixed(0).padStart(7)}/s` +
        `  accepted ${accepted}, repeated ${repeated}`,
    );
  }
}
