import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { makeCredentials } from "../../../dev/simulators/kit/credentials.ts";
import { startWhatsapp, type WhatsappSimulator } from "../../../dev/simulators/whatsapp.ts";
import { allAccounts, testKeyRing } from "../../support/rows/fixtures.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { cpuOfEach, splitOf } from "../cpu.ts";
import { atLeast, atMost } from "../figures/figure.ts";
import type { Measurement } from "../measure-all.ts";
import { quantiles, runLoad } from "../messages/load.ts";
import { startPrograms } from "../programs.ts";

const whole = { people: 2_000, messages: 20_000, paced: 3_000, perSecond: 300, replies: 400, repliesPerSecond: 20 };
const short: typeof whole = {
  people: 10,
  messages: 20,
  paced: 20,
  perSecond: 100,
  replies: 5,
  repliesPerSecond: 20,
};
const connections = 64; // of Meta's
const mostPerSecond = 1_900; // of one sender 2,000 are let in
const credentials = makeCredentials();

/** What people write on WhatsApp until it is stored and told, and what they are answered until Meta has it. */
export const measureInbound: Measurement = async ({ isShort, withInstallation }, tell) => {
  const meta = await startWhatsapp({ port: 0, tls: credentials.tls, account: credentials.whatsapp });
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "bench-"));
  const authority = join(dir, "ca.pem");
  await writeFile(authority, credentials.tls.cert);
  try {
    await withInstallation(async ({ system, stores }) => {
      const size = isShort ? short : whole;
      await useWhatsapp(system);
      const env = { HERALD_META_URL: meta.url, NODE_EXTRA_CA_CERTS: authority };
      const start: System["start"] = (program, more) => system.start(program, { ...env, ...more });
      const programs = await startPrograms({ system: isShort ? system : { ...system, start }, stores }, 1);
      const writing = await writers(system, programs.apiserver, stores.nats.url);
      try {
        await writing.write({ count: size.people, people: size.people }); // strangers
        const [cpuBefore, beganMs] = [programs.cpuUs(), performance.now()];
        await writing.write({ count: size.messages, people: size.people, perSecond: mostPerSecond });
        const tookMs = performance.now() - beganMs;
        const each = cpuOfEach(cpuBefore, programs.cpuUs(), size.messages);
        tell({
          name: "messages of people on WhatsApp, stored and told",
          reach: atLeast(1_500),
          value: (size.messages / tookMs) * 1_000,
          unit: "/s",
          how: `${size.messages} webhooks of one message each, of ${size.people} people, over ${connections} connections; CPU of each, µs: ${splitOf(each)}`,
        });
        const paced = await writing.write({ count: size.paced, people: size.people, perSecond: size.perSecond });
        const { p50Ms, p99Ms } = quantiles(paced);
        tell({
          name: "a message of a person, from the webhook to stored and told, p99",
          reach: atMost(150),
          value: p99Ms,
          unit: "ms",
          how: `${size.paced} webhooks, ${size.perSecond} a second; p50 ${p50Ms.toFixed(1)} ms`,
        });
        if (!isShort) await measureReplies({ system, api: programs.apiserver, meta, size }, tell);
      } finally {
        await writing.close();
      }
    });
  } finally {
    await meta.stop();
    await rm(dir, { recursive: true, force: true });
  }
};

const useWhatsapp = async ({ db, app }: System): Promise<void> => {
  const { seal } = keyRing(testKeyRing);
  const { phoneNumberId, accessToken, appSecret } = credentials.whatsapp;
  const sealed = (text: string, member: string) => seal(text, `apps/${app._id}/whatsapp.${member}`);
  const whatsapp = {
    ...allAccounts(app._id).whatsapp,
    phone_number_id: phoneNumberId,
    access_token: sealed(accessToken, "access_token"),
    app_secret: sealed(appSecret, "app_secret"),
  };
  await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.whatsapp": whatsapp } });
};

const numberOf = (n: number): string => `49151${String(n).padStart(8, "0")}`;

type Writing = { count: number; people: number; perSecond?: number };

/** People who write, each message once; `write` gives how long each took from the request to its event, once all are told. */
const writers = async ({ app, prefix }: System, api: SystemProgram, natsUrl: string) => {
  const url = `${api.url}/ingress/whatsapp/${app._id}/${credentials.whatsapp.phoneNumberId}`;
  const [begun, tookMs] = [new Map<number, number>(), new Map<number, number>()];
  const nats = await connectNats({ url: natsUrl, name: "bench" });
  nats.nc.subscribe(`${prefix}.app-events.>`, {
    callback: (_, message) => {
      const now = performance.now();
      for (const [, n] of message.string().matchAll(/"text":"bench (\d+)"/g))
        tookMs.set(Number(n), tookMs.get(Number(n)) ?? now - (begun.get(Number(n)) ?? Number.NaN));
    },
  });
  await nats.nc.flush();
  let sent = 0;
  const write = async ({ count, people, perSecond = Infinity }: Writing): Promise<number[]> => {
    const from = sent;
    sent += count;
    const bodies = Array.from({ length: count }, (_, n) => bodyOf(from + n, numberOf((from + n) % people)));
    const headers = bodies.map(signed);
    const { failures } = await runLoad({
      url,
      connections,
      requests: count,
      ...(Number.isFinite(perSecond) && { perSecond }),
      headers: (n) => {
        begun.set(from + n, performance.now());
        return headers[n] ?? {};
      },
      body: (n) => bodies[n] ?? "",
      status: 200,
    });
    if (Object.keys(failures).length > 0) throw new Error(`webhooks that were refused: ${JSON.stringify(failures)}`);
    await until(async () => tookMs.size === sent, 120_000, 20);
    return Array.from({ length: count }, (_, n) => tookMs.get(from + n) ?? Number.NaN);
  };
  return { write, close: nats.close };
};

const bodyOf = (n: number, from: string): string => {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const value = {
    messaging_product: "whatsapp",
    metadata: { display_phone_number: "15550783881", phone_number_id: credentials.whatsapp.phoneNumberId },
    contacts: [{ profile: { name: "Ada" }, wa_id: from }],
    messages: [{ from, id: `wamid.bench${n}`, timestamp, type: "text", text: { body: `bench ${n}` } }],
  };
  return JSON.stringify({
    object: "whatsapp_business_account",
    entry: [{ id: "1", changes: [{ field: "messages", value }] }],
  });
};

const signed = (body: string): Record<string, string> => ({
  "x-hub-signature-256": `sha256=${createHmac("sha256", credentials.whatsapp.appSecret).update(body).digest("hex")}`,
});

type Replying = { system: System; api: SystemProgram; meta: WhatsappSimulator; size: typeof whole };

/** Replies to as many people, evenly: from the 202 until the simulator of Meta has them. */
const measureReplies = async (
  { system, api, meta, size }: Replying,
  tell: Parameters<Measurement>[1],
): Promise<void> => {
  const rows = await system.db
    .collection<ConversationRow>("conversations")
    .find({ app_id: system.app._id, channel: "whatsapp" })
    .limit(size.replies)
    .toArray();
  for (const row of rows) meta.openSession(row.contact_address);
  const acceptedAt = new Map<string, number>();
  const requestsMs: number[] = [];
  const beganMs = performance.now();
  const reply = async (row: ConversationRow, n: number): Promise<void> => {
    await sleep(Math.max(0, beganMs + (n * 1_000) / size.repliesPerSecond - performance.now()));
    const startedMs = performance.now();
    const answer = await fetch(`${api.url}/v1/apps/${system.app._id}/conversations/${row._id}/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      body: JSON.stringify({ text: "It does." }),
    });
    await answer.arrayBuffer();
    requestsMs.push(performance.now() - startedMs);
    acceptedAt.set(row.contact_address, Date.now());
    if (answer.status !== 202) throw new Error(`a reply was answered ${answer.status}`);
  };
  await Promise.all(rows.map(reply));
  await until(async () => meta.log.counts().accepted >= rows.length, 60_000);
  const tookMs = meta.log
    .page()
    .flatMap(({ address, at }) => (acceptedAt.has(address) ? [Date.parse(at) - (acceptedAt.get(address) ?? 0)] : []));
  const { p50Ms, p99Ms } = quantiles(tookMs);
  const requests = quantiles(requestsMs);
  tell({
    name: "a reply, from accepted to the provider, p99",
    reach: atMost(300),
    value: p99Ms,
    unit: "ms",
    how: `${tookMs.length} replies, ${size.repliesPerSecond} a second, text on WhatsApp; p50 ${p50Ms.toFixed(1)} ms; the requests took p50 ${requests.p50Ms.toFixed(1)}, p99 ${requests.p99Ms.toFixed(1)} ms`,
  });
};
