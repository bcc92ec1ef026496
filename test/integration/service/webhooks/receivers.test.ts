import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect } from "chai";
import type { Clock } from "#core/domain/clock.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { bodyTemplates } from "#core/runtime/templates/body-templates.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { freePorts } from "../../../../dev/processes/free-ports.ts";
import { type ReceivedWebhook, startReceiver } from "../../../../dev/simulators/receiver.ts";
import { guardedClient } from "../../../../dispatcher/net/guarded/client.ts";
import { deliveryOf, written } from "../../../../dispatcher/webhooks/accept/delivery.ts";
import { prepare } from "../../../../dispatcher/webhooks/send/prepare.ts";
import { sendWebhook } from "../../../../dispatcher/webhooks/send/send-webhook.ts";
import { blocksOf, type Case, isHere, recipes, writeBlocks } from "../../../support/pages/recipes.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { until } from "../../../support/until.ts";

const page = new URL("../../../../docs/receivers.md", import.meta.url).pathname;
const secrets = {
  current: `whsec_${randomBytes(32).toString("base64")}`,
  previous: `whsec_${randomBytes(32).toString("base64")}`,
  other: `whsec_${randomBytes(32).toString("base64")}`,
};

/** Has a dispatcher's code send one event to a receiver, signed at `at`; the request as it came. */
const captured = async (at: Date, isRotated: boolean, shape: Partial<WebhookRow> = {}): Promise<ReceivedWebhook> => {
  const receiver = await startReceiver({ port: 0 });
  const clock: Clock = { now: () => at };
  const client = guardedClient({ guard: addressGuard({ allow: ["127.0.0.0/8"] }) });
  const sealed = (data: string) => ({ kid: "test", data });
  const previous = { secret: sealed(secrets.previous), expires_at: new Date(at.getTime() + 60_000) };
  const row = aWebhook({
    url: `${receiver.url}/hook`,
    secret: sealed(secrets.current),
    previous_secret: isRotated ? previous : null,
    ...shape,
  });
  const templates = bodyTemplates();
  try {
    const send = sendWebhook({ tracer: noTracer, client, templates, clock, random: Math.random });
    await send(
      prepare(row, ({ data }) => data),
      deliveryOf(row, written(anEvent), at),
    );
    const [request] = receiver.received();
    if (request === undefined) throw new Error("no request came");
    return request;
  } finally {
    client.close();
    await Promise.all([receiver.stop(), templates.stop(new AbortController().signal)]);
  }
};

const anEvent: EventEnvelope = {
  id: "evt_01K0000000000000000000000A",
  type: "event.received",
  timestamp: "2026-11-21T12:00:00.000Z",
  app_id: "app_1",
  subject_id: "usr_1",
  api_version: "1.0",
  data: { name: "Grüße 👋", text: 'a "quoted" \\ line\nand another\u2028', value: 1.5 },
};

type Changed = { it: string; of: Case; accepted: boolean };

/** Every request that a receiver must judge rightly. */
const casesOf = async (): Promise<Changed[]> => {
  const now = new Date();
  const shifted = (seconds: number) => new Date(now.getTime() + seconds * 1000);
  const text = { body_template: "Größe: {{ data.value }}", body_content_type: "text/plain" as const };
  const [plain, rotated, old, ahead, shaped] = await Promise.all([
    captured(now, false),
    captured(now, true),
    captured(shifted(-600), false),
    captured(shifted(600), false),
    captured(now, false, text),
  ]);
  const of = (request: ReceivedWebhook, secret = secrets.current, headers: Record<string, string> = {}): Case => ({
    secret,
    headers: { ...request.headers, ...headers },
    body: Buffer.from(request.body),
  });
  const signature = plain.headers["webhook-signature"] ?? "";
  const signed = (text: string) => of(plain, secrets.current, { "webhook-signature": text });
  const timed = (text: string) => of(plain, secrets.current, { "webhook-timestamp": text });
  const { "webhook-signature": _, ...unsigned } = plain.headers;
  return [
    { it: "a request", of: of(plain), accepted: true },
    { it: "a body that is not JSON", of: of(shaped), accepted: true },
    { it: "the new secret during a rotation", of: of(rotated), accepted: true },
    { it: "the old secret during a rotation", of: of(rotated, secrets.previous), accepted: true },
    { it: "the signature behind one of another version", of: signed(`v1a,AAAA ${signature}`), accepted: true },
    { it: "another body", of: { ...of(plain), body: Buffer.from(`${plain.body} `) }, accepted: false },
    { it: "another id", of: of(plain, secrets.current, { "webhook-id": "evt_2" }), accepted: false },
    { it: "another time", of: timed(String(Number(plain.headers["webhook-timestamp"]) + 1)), accepted: false },
    { it: "a time that is no number", of: timed("now"), accepted: false },
    { it: "a time of 400 digits", of: timed("9".repeat(400)), accepted: false },
    { it: "an old request", of: of(old), accepted: false },
    { it: "a request from the future", of: of(ahead), accepted: false },
    { it: "another secret", of: of(plain, secrets.other), accepted: false },
    { it: "the old secret after a rotation", of: of(plain, secrets.previous), accepted: false },
    { it: "an empty signature (CVE-2024-21491)", of: signed("v1,"), accepted: false },
    { it: "an empty header", of: signed(""), accepted: false },
    { it: "no signature", of: { ...of(plain), headers: unsigned }, accepted: false },
    { it: "the beginning of the signature", of: signed(signature.slice(0, 20)), accepted: false },
    { it: "the signature under another version", of: signed(signature.replace("v1,", "v2,")), accepted: false },
    { it: "a signature that is not base64", of: signed("v1,ü*"), accepted: false },
  ];
};

describe("the recipes for receivers", () => {
  let cases: Changed[];
  let blocks: Map<string, string>;
  let files: Awaited<ReturnType<typeof writeBlocks>>;

  before(async () => {
    blocks = await blocksOf(page);
    files = await writeBlocks(blocks);
    cases = await casesOf();
  });

  after(() => files?.remove());

  it("are all run here", () => {
    const run = [...recipes.map(({ file }) => file), "receiver.mjs"];
    expect([...blocks.keys()].sort()).to.deep.equal(run.sort());
  });

  for (const { file, tool, judge } of recipes) {
    const isMissing = tool !== "node" && !isHere(tool);
    const title = `${file} judges every request rightly`;
    (isMissing ? it.skip : it)(isMissing ? `${title} (skipped: there is no ${tool} here)` : title, async () => {
      const verdicts = await judge(
        files.dir,
        cases.map(({ of }) => of),
      );
      const judged = cases.map(({ it: name }, i) => ({ it: name, accepted: verdicts[i] }));
      expect(judged).to.deep.equal(cases.map(({ it: name, accepted }) => ({ it: name, accepted })));
    });
  }

  it("receiver.mjs handles an event once, and refuses what is not ours", async () => {
    const [port = 0] = await freePorts(1);
    const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secrets.current };
    const receiver = spawn(process.execPath, [join(files.dir, "receiver.mjs")], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const handled: string[] = [];
    receiver.stdout.setEncoding("utf8").on("data", (text: string) => handled.push(...text.trim().split("\n")));
    const ended = new Promise((resolve) => receiver.once("close", resolve)); // what it has written is read by then
    try {
      const answers: number[] = [];
      const [good, bad] = [cases[0], cases.find(({ it: name }) => name === "another body")];
      for (const one of [good, good, bad]) answers.push(await post(port, one?.of));
      expect(answers).to.deep.equal([204, 204, 401]);
    } finally {
      receiver.kill();
      await ended;
    }
    expect(handled).to.deep.equal([`event.received ${anEvent.id}`]);
  });
});

/** Posts a captured request to a program that may still be starting. */
const post = async (port: number, of: Case | undefined): Promise<number> => {
  if (of === undefined) throw new Error("there is no such case");
  const { host: _, connection: __, "content-length": ___, ...headers } = of.headers;
  let status = 0;
  await until(async () => {
    const asked = fetch(`http://127.0.0.1:${port}/hook`, { method: "POST", headers, body: new Uint8Array(of.body) });
    status = await asked.then(
      (reply) => reply.status,
      () => 0,
    );
    return status !== 0;
  });
  return status;
};
