import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { createTransport } from "nodemailer";
import type { Callback } from "#core/channels/kit/callbacks.ts";
import { newId } from "#core/domain/ids.ts";
import { AppError, Unavailable } from "#core/errors.ts";
import type { CallbackOf } from "#core/queue/callbacks.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { certificatesIn } from "#core/runtime/tls/certificates.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { smtpLimits } from "../../../../apiserver/callbacks/smtp/limits.ts";
import { smtpListener } from "../../../../apiserver/callbacks/smtp/listener.ts";
import { mailTaking } from "../../../../apiserver/callbacks/smtp/take.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import { noon } from "../../../support/rows/work.ts";
import { until } from "../../../support/until.ts";

type Kept = { of: CallbackOf; callback: Callback };

describe("the SMTP listener", () => {
  const log = createLog({ program: "apiserver", level: "fatal" });
  const idOf = (): string => newId("app", new Date());
  const [mine, other, without] = [idOf(), idOf(), idOf()];
  const appOf = (id: string, email: boolean) =>
    ({ _id: id, tenant_id: "ten_1", channels: email ? { email: {} } : {} }) as unknown as AppRow; // what of it is read
  const apps = new Map([mine, other, without].map((id) => [id, appOf(id, id !== without)]));
  const at = (id: string, domain = "in.test"): string => `${id.toLowerCase()}@${domain}`;
  let [nowMs, dir] = [noon.getTime(), ""];
  let kept: Kept[] = [];
  let counted: string[] = [];
  let failing: (() => Error) | null = null;
  let listener: ReturnType<typeof smtpListener>;
  let certificate = selfSigned();

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "smtp-"));
    await writeCertificate();
    const clock = { now: () => new Date(nowMs) };
    const limits = smtpLimits(clock);
    listener = smtpListener({
      host: "127.0.0.1",
      port: 0,
      domain: "in.test",
      certificates: certificatesIn({ dir, log, everyMs: 25 }),
      taking: mailTaking({
        domain: "in.test",
        app: async (id) => apps.get(id) ?? null,
        isTaking: async () => true,
        keep: async (of, callback) => {
          if (failing !== null) throw failing();
          kept.push({ of, callback });
        },
        limits,
        clock,
      }),
      limits,
      count: (outcome) => counted.push(outcome),
      log,
    });
    await listener.start(new AbortController().signal);
  });
  beforeEach(() => {
    nowMs += 3_600_000; // what was taken of rates is there again
    [kept, counted, failing] = [[], [], null];
  });
  after(async () => {
    await listener?.stop(new AbortController().signal);
    await rm(dir, { recursive: true, force: true });
  });

  const writeCertificate = async (): Promise<void> => {
    for (const [name, text] of [
      ["tls.crt", certificate.cert],
      ["tls.key", certificate.key],
    ] as const) {
      await writeFile(join(dir, name), text);
      await utimes(join(dir, name), nowMs / 1000, nowMs / 1000);
    }
  };
  const send = async (
    to: string | string[],
    { from = "ann@example.test", raw = "Subject: a\r\n\r\nb\r\n", ca = "" } = {},
  ) => {
    const transport = createTransport({
      host: "127.0.0.1",
      port: listener.port(),
      secure: false,
      ...(ca === "" ? { ignoreTLS: true } : { requireTLS: true, tls: { ca } }),
    });
    return transport.sendMail({ envelope: { from, to }, raw }).then(
      ({ response }) => response,
      (error: { response?: string; message: string }) => error.response ?? error.message,
    );
  };

  it("stores a mail as it came for each app that it is for, then answers", async () => {
    const raw = "Subject: a\r\n\r\n.dot\r\n..\r\n\u00fc\r\n";
    expect(await send([at(mine), `${mine}+shop@IN.test`, at(other)], { raw })).to.match(/^250/);
    expect(kept.map(({ of }) => of)).to.deep.equal(
      [mine, other].map((appId) => ({ tenantId: "ten_1", appId, provider: "smtp" })),
    );
    const [first] = kept;
    expect(first?.callback).to.deep.include({ part: "inbound", contentType: "message/rfc822" });
    expect(first?.callback.body.toString()).to.equal(raw);
    expect(counted).to.deep.equal(["queued"]);
  });

  it("knows nobody but apps with an account of mail, and hands nothing on", async () => {
    for (const to of [at(idOf()), at(without), at(mine, "shop.test"), "help@in.test", `x${at(mine)}`])
      expect(await send(to), to).to.match(/^550 5\.1\.1/);
    expect(kept).to.deep.equal([]);
    expect(new Set(counted)).to.deep.equal(new Set(["unknown"]));
  });

  it("takes what a mail server says about mails, and keeps nothing of it", async () => {
    expect(await send(at(mine), { from: "" })).to.match(/^250/);
    expect([kept, counted]).to.deep.equal([[], ["answered"]]);
  });

  it("has a sender come again while a mail cannot be stored", async () => {
    failing = () => new Unavailable("the queue");
    expect(await send(at(mine))).to.match(/^451/);
    failing = () => new AppError("HS_PAYLOAD_TOO_LARGE", "no store of files");
    expect(await send(at(mine))).to.match(/^552/);
    failing = null;
    expect(await send(at(mine))).to.match(/^250/);
    expect(counted).to.deep.equal(["refused", "refused", "queued"]);
  });

  it("refuses what is more than anybody writes, said before or not", async () => {
    expect(await send(at(mine), { raw: `Subject: a\r\n\r\n${"a".repeat(10_485_760)}` })).to.match(/^552/);
    expect(await dialogue(["MAIL FROM:<a@b.test> SIZE=10485761"])).to.match(/^552/);
    expect(await send(at(mine), { raw: `${"A: b\r\n".repeat(11_000)}\r\nb` })).to.match(/^554 5\.6\.0/);
    expect(await send(at(mine), { raw: `Subject: a\r\n\r\n${"--b\r\n\r\n".repeat(1_001)}` })).to.match(/^554 5\.6\.0/);
    expect(await send(Array.from({ length: 11 }, (_, n) => `${mine}+${n}@in.test`))).to.match(/^250/);
    expect(kept, "the eleventh is told to be sent apart").to.have.lengthOf(1);
    expect(counted.filter((one) => one === "refused")).to.have.lengthOf(4);
  });

  it("ends with whoever names too many that are nobody, until some time went by", async () => {
    for (let n = 0; n < 10; n++) await send(Array.from({ length: 10 }, (_, i) => `${n}${i}@in.test`));
    expect(await send(at(mine))).to.match(/^421 4\.7\.0/);
    nowMs += 60_000;
    expect(await send(at(mine))).to.match(/^250/);
  });

  it("counts mails of a source, and connections", async () => {
    const told = await dialogue(
      Array.from({ length: 501 }, () => [
        `MAIL FROM:<a@b.test>`,
        `RCPT TO:<${at(mine)}>`,
        "DATA",
        "A: b\r\n\r\nc\r\n.",
      ]).flat(),
    );
    expect(told).to.match(/^451 4\.7\.0/);
    expect(kept).to.have.lengthOf(500);
    const open = await Promise.all(Array.from({ length: 20 }, () => greeted()));
    expect(open.every(({ said }) => said.startsWith("220"))).to.equal(true);
    const beyond = await greeted();
    expect(beyond.said).to.match(/^421 4\.7\.0/);
    for (const { close } of [...open, beyond]) await close();
    await until(async () => {
      const { said, close } = await greeted();
      await close();
      return said.startsWith("220");
    }, 60_000);
  });

  it("encrypts with the certificate of its folder, and with the next one once that is there", async () => {
    expect(await send(at(mine), { ca: certificate.cert })).to.match(/^250/);
    certificate = selfSigned();
    await writeCertificate();
    await until(async () => (await send(at(mine), { ca: certificate.cert }).catch(String)).startsWith("250"));
    expect(await dialogue(["AUTH PLAIN AGEAYg=="])).to.match(/^50/);
  });

  /** A connection of an address that no other test uses, and the first line on it. */
  const greeted = async () => {
    const socket = connect({ port: listener.port(), host: "127.0.0.1", localAddress: "127.0.0.2" });
    const said = Promise.withResolvers<string>();
    const closed = Promise.withResolvers<void>();
    socket.once("data", (data) => said.resolve(data.toString())).once("error", said.reject);
    socket.once("close", () => closed.resolve());
    return { said: await said.promise, close: () => (socket.end(), closed.promise) };
  };

  /** What is answered to the last of some commands, each of which waits for the answer before it. */
  const dialogue = async (commands: readonly string[]): Promise<string> => {
    const socket = connect(listener.port(), "127.0.0.1");
    const ended = Promise.withResolvers<string>();
    const left = ["EHLO a.test", ...commands];
    socket.once("error", ended.reject).once("close", () => ended.resolve("closed"));
    let rest = "";
    socket.on("data", (data) => {
      rest += data.toString();
      const lines = rest.split("\r\n");
      rest = lines.pop() ?? "";
      for (const line of lines.filter((one) => one[3] === " ")) {
        const next = left.shift();
        if (next === undefined) ended.resolve(line);
        else socket.write(`${next}\r\n`);
      }
    });
    return ended.promise.finally(() => socket.destroy());
  };
});
