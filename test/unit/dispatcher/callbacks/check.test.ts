import { expect } from "chai";
import { callbacks } from "#core/channels/callbacks.ts";
import { authoritiesOf } from "#core/channels/kit/authorities.ts";
import type { CallbackBatch } from "#core/queue/callbacks.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import { certificates, sharing } from "../../../../dispatcher/callbacks/certificates.ts";
import { checkCallbacks } from "../../../../dispatcher/callbacks/check.ts";
import type { GuardedReply } from "../../../../dispatcher/net/guarded/client.ts";
import { type Signed, snsAuthority, snsTopic } from "../../../support/callbacks/signed.ts";
import { handClock } from "../../../support/rows/work.ts";

const log = createLog({ program: "test", level: "fatal" });
const signal = new AbortController().signal;
const topic = snsTopic("arn:aws:sns:eu-central-1:123456789012:mails");
const forger = snsTopic("arn:aws:sns:eu-central-1:123456789012:mails", selfSigned());
const trusted = authoritiesOf([snsAuthority.cert]);

const answered = (status: number, text: string): GuardedReply => ({
  kind: "answered",
  status,
  headers: {},
  body: Buffer.from(text),
  broken: null,
});
const unreached: GuardedReply = { kind: "unreached", reason: "no connection", errorClass: "connect" };

/** A dispatcher, and Amazon that serves certificates by their address: what it has not is 404. */
const given = (
  replies: Record<string, GuardedReply> = { [topic.certificateUrl]: answered(200, topic.certificate) },
) => {
  const [clock, asked, shared, refusals] = [handClock(), [] as string[], [] as string[], [] as string[]];
  const rows = new Map<string, string>();
  const check = checkCallbacks({
    callbacks,
    certificate: certificates({
      request: async ({ url }) => (asked.push(url.href), replies[url.href] ?? answered(404, "none")),
      known: async (url) => rows.get(url) ?? null,
      clock,
    }),
    trusted: () => trusted,
    share: sharing(async (url) => void shared.push(url), clock),
    count: ({ kind }) => void refusals.push(kind),
    log,
    clock,
  });
  const waiting = ({ body }: Signed, over: object = { isUnchecked: true }): CallbackBatch["callbacks"][number] => ({
    tenantId: "ten_1",
    appId: "app_1",
    provider: "ses",
    callback: {
      part: "",
      url: "",
      contentType: "text/plain",
      receivedAt: clock.now(),
      body: Buffer.from(body),
      ...over,
    },
  });
  const run = async (...all: CallbackBatch["callbacks"]) => {
    const { signed, pending } = await check({ callbacks: all }, signal);
    return [signed.length, pending.length, refusals.length];
  };
  return { rows, clock, asked, shared, replies, waiting, run };
};

const send = (of: typeof topic, at?: Date) => of.notification({ eventType: "Send" }, at);

describe("callbacks that came before their certificate", () => {
  it("are read once that is there, which is fetched once and shared", async () => {
    const { run, waiting, asked, shared } = given();
    const three = [1, 2, 3].map(() => waiting(send(topic)));
    expect(await run(...three)).to.deep.equal([3, 0, 0]);
    expect(await run(...three)).to.deep.equal([3, 0, 0]);
    expect(asked).to.deep.equal([topic.certificateUrl]);
    expect(shared).to.deep.equal([topic.certificateUrl]);
  });

  it("are read without a request when another dispatcher has fetched it", async () => {
    const { run, waiting, asked, rows } = given({});
    rows.set(topic.certificateUrl, topic.certificate);
    expect(await run(waiting(send(topic)))).to.deep.equal([1, 0, 0]);
    expect(asked).to.deep.equal([]);
  });

  it("are left out, and counted, when another signed them", async () => {
    const { run, waiting } = given();
    expect(await run(waiting(send(forger)), waiting(send(topic)))).to.deep.equal([1, 0, 1]);
  });

  it("are left out when the certificate is not Amazon's own, which is not shared", async () => {
    const { run, waiting, shared } = given({ [topic.certificateUrl]: answered(200, forger.certificate) });
    expect(await run(waiting(send(forger)))).to.deep.equal([0, 0, 1]);
    expect(shared).to.deep.equal([]);
  });

  it("are left out when there is none, for which Amazon is asked once a minute", async () => {
    const { run, waiting, asked, clock } = given({});
    expect(await run(...Array.from({ length: 50 }, () => waiting(send(forger))))).to.deep.equal([0, 0, 50]);
    expect(await run(waiting(send(forger)))).to.deep.equal([0, 0, 51]);
    expect(asked).to.have.length(1);
    clock.tick(60_001);
    await run(waiting(send(forger)));
    expect(asked).to.have.length(2);
  });

  it("wait while Amazon is away, for a quarter of an hour", async () => {
    const { run, waiting, clock, replies } = given({ [topic.certificateUrl]: unreached });
    const one = waiting(send(topic));
    expect(await run(one)).to.deep.equal([0, 1, 0]);
    clock.tick(900_000);
    expect(await run(one)).to.deep.equal([0, 0, 1]);
    replies[topic.certificateUrl] = answered(200, topic.certificate);
    clock.tick(10_001);
    expect(await run(waiting(send(topic)))).to.deep.equal([1, 0, 1]);
  });

  it("fetch nothing from anywhere else", async () => {
    const { run, waiting, asked } = given();
    const { headers, body } = send(topic);
    const elsewhere = { headers, body: body.replace(topic.certificateUrl, "https://169.254.169.254/x.pem") };
    expect(await run(waiting(elsewhere))).to.deep.equal([0, 0, 1]);
    expect(asked).to.deep.equal([]);
  });

  it("are read at once when an apiserver has checked them", async () => {
    const { run, waiting, asked } = given({});
    expect(await run(waiting(send(topic), {}))).to.deep.equal([1, 0, 0]);
    expect(asked).to.deep.equal([]);
  });
});
