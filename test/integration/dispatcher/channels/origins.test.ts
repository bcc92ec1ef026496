import { expect } from "chai";
import webPushLibrary from "web-push";
import { renderEmail } from "#core/channels/email/render.ts";
import { renderWebPush } from "#core/channels/web-push/render.ts";
import { type Clock, systemClock } from "#core/domain/clock.ts";
import type { Outcome, Recipient } from "#core/domain/messages/outcome.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { noTracer } from "#core/runtime/tracing/tracer.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../../dev/simulators/kit/control.ts";
import { browserKeys } from "../../../../dev/simulators/kit/web-push-keys.ts";
import { startSmtp } from "../../../../dev/simulators/smtp.ts";
import { startWebPush, type WebPushSimulator } from "../../../../dev/simulators/web-push.ts";
import { encodedMail } from "../../../../dispatcher/channels/email/mime-body.ts";
import { smtp } from "../../../../dispatcher/channels/email/smtp.ts";
import { type Account, rendered, type Send } from "../../../../dispatcher/channels/kit/provider.ts";
import { type Sender, senders } from "../../../../dispatcher/channels/registry.ts";
import { webPush } from "../../../../dispatcher/channels/web-push/web-push.ts";
import { guardedClient } from "../../../../dispatcher/net/guarded/client.ts";
import { aMessage, anApp, handClock } from "../../../support/rows/work.ts";
import { listening, rudeMailServer } from "../../../support/servers/mail-server.ts";
import { connectHere } from "../../../support/servers/outgoing.ts";

const atOnce = 64; // as a chunk does
const never = new AbortController().signal;
const tls = selfSigned();
const log = createLog({ program: "test", level: "silent" });
const content = { headings: { en: "Hi" }, contents: { en: "Hello" }, email_subject: "Hi", email_body: "<p>Hello</p>" };

/** What sends over an account, as a chunk would. */
const sendOver = async (made: Account, clock: Clock = systemClock): Promise<Send> =>
  (await senderOver(made, clock)).prepare(aMessage({ content }), null, 600);

const senderOver = (made: Account, clock: Clock = systemClock): Promise<Sender> =>
  senders({
    open: () => made,
    peers: { count: () => 1 },
    tracer: noTracer,
    clock,
    metrics: createMetrics("dispatcher"),
    log,
  }).of(anApp(), "web_push");

const sendAll = (send: Send, recipients: readonly Recipient[]): Promise<Outcome[]> =>
  mapBounded(recipients, atOnce, (to) => send(to, never, () => false));

const kinds = (outcomes: readonly Outcome[]): Record<string, number> => {
  const groups = Map.groupBy(outcomes, ({ kind }) => kind);
  return Object.fromEntries([...groups].map(([kind, { length }]) => [kind, length]));
};

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

const settings = { tracking: { opens: false, clicks: false }, transactionalCategories: [] };

describe("an account whose recipients' servers fail", () => {
  describe("on e-mail", () => {
    const mailTo = (address: string): Recipient => ({ deliveryId: `dlv_${address}`, subscriptionId: address, address });
    const sendingTo = async (url: string, timeoutMs: number): Promise<Send> => {
      const from = { name: null, address: "news@shop.test" };
      const server = { host: "127.0.0.1", port: Number(new URL(url).port), security: "none", login: null } as const;
      const account = { ...server, from, dkim: null, links: null, bounces: null };
      made = rendered(smtp({ account, connect: connectHere, clock: systemClock, timeoutMs }), (rendering) =>
        encodedMail(renderEmail(rendering, settings)),
      );
      return sendOver(made);
    };
    let made: Account | undefined;
    let simulator: Simulator | undefined;
    let tarpit: Awaited<ReturnType<typeof startTarpit>> | undefined;
    afterEach(async () => {
      await made?.close();
      await simulator?.stop();
      await tarpit?.stop();
    });

    it("sends all other mails while hundreds of recipients are put off", async () => {
      simulator = await startSmtp({ port: 0, tls });
      simulator.script({ answers: [{ address_prefix: "grey", status: 450, reason: "4.2.0 greylisted" }] });
      const recipients = [
        ...many(100, (n) => mailTo(`grey${n}@a.test`)),
        ...many(50, (n) => mailTo(`user${n}@a.test`)),
      ];
      const outcomes = await sendAll(await sendingTo(simulator.url, 20_000), recipients);
      expect(kinds(outcomes.slice(0, 100))).to.deep.equal({ retry_at: 100 });
      expect(kinds(outcomes.slice(100))).to.deep.equal({ sent: 50 });
    });

    it("lets two recipients of a domain try whose server never answers, and sends all other mails", async () => {
      tarpit = await startTarpit();
      const recipients = [
        ...many(60, (n) => mailTo(`user${n}@tarpit.test`)),
        ...many(50, (n) => mailTo(`user${n}@a.test`)),
      ];
      const outcomes = await sendAll(await sendingTo(tarpit.url, 4_000), recipients);
      expect(kinds(outcomes.slice(0, 60))).to.deep.equal({ retry_at: 60 });
      expect(kinds(outcomes.slice(60))).to.deep.equal({ sent: 50 });
      expect(tarpit.tried()).to.equal(2);
    });
  });

  describe("on web push", () => {
    const keys = { subject: "mailto:ops@example.com", ...webPushLibrary.generateVAPIDKeys() };
    const client = guardedClient({
      guard: addressGuard({ allow: ["127.0.0.1"] }),
      resolve: async () => ["127.0.0.1"],
      ca: tls.cert,
    });
    const provider = () => rendered(webPush({ account: keys, client, clock: systemClock }), renderWebPush);
    const browserAt = (endpoint: string, n: number): Recipient => ({
      deliveryId: `dlv_${n}`,
      subscriptionId: `sub_${n}`,
      address: endpoint,
      webKeys: browserKeys(String(n)).keys,
    });
    let service: WebPushSimulator;
    let hole: Hole;
    before(async () => {
      service = await startWebPush({ port: 0, tls });
      hole = await startHole();
    });
    afterEach(() => service.script({}));
    after(async () => {
      client.close();
      await service.stop();
      await hole.stop();
    });
    const good = (): Recipient[] =>
      many(50, (n) => {
        const { endpoint, keys: webKeys } = service.subscribe();
        return { ...browserAt(endpoint, n), webKeys };
      });

    it("sends to all other browsers while hundreds of dead endpoints fail", async () => {
      const dead = many(100, (n) => browserAt(`https://gone.test:${hole.port}/${n}`, n));
      const outcomes = await sendAll(await sendOver(provider(), handClock()), [...dead, ...good()]);
      expect(kinds(outcomes.slice(0, 100))).to.deep.equal({ retry_at: 100 });
      expect(kinds(outcomes.slice(100))).to.deep.equal({ sent: 50 });
      expect(hole.tried()).to.be.within(1, 2); // whoever waits for the connection shares its failure
    });

    it("lets a quarter of its places to endpoints that failed before, each with a host of its own", async () => {
      const clock = handClock();
      const send = await sendOver(provider(), clock);
      const dead = many(60, (n) => browserAt(`https://gone${n}.test:${hole.port}/`, n));
      await sendAll(send, dead);
      clock.tick(1_001);
      const before = hole.tried();
      const outcomes = await sendAll(send, [...dead, ...good()]);
      expect(hole.tried() - before).to.equal(16);
      expect(kinds(outcomes)).to.deep.equal({ retry_at: 60, sent: 50 });
    });

    it("knows which browsers' push services it has reached", async () => {
      const sender = await senderOver(provider());
      const [known, dead] = [good(), [browserAt(`https://gone.test:${hole.port}/`, 1)]];
      const before = known.map(({ address }) => sender.hasReached(address));
      await sendAll(sender.prepare(aMessage({ content }), null, 600), [...known, ...dead]);
      const after = [...known, ...dead].map(({ address }) => sender.hasReached(address));
      expect(new Set(before)).to.deep.equal(new Set([false]));
      expect(after).to.deep.equal([...known.map(() => true), false]);
    });

    it("sends to all browsers of a push service that was away, as soon as one of them is reached", async () => {
      const clock = handClock();
      const send = await sendOver(provider(), clock);
      service.script({ refuse_connections: true });
      expect(kinds(await sendAll(send, good()))).to.deep.equal({ retry_at: 50 });
      service.script({});
      clock.tick(1_001);
      expect(kinds(await sendAll(send, good()))).to.deep.equal({ sent: 50 });
    });
  });
});

type Hole = { port: number; tried: () => number; stop: () => Promise<void> };

/** Cuts every connection. */
const startHole = async (): Promise<Hole> => {
  let tried = 0;
  const { port, stop } = await listening((socket) => {
    tried++;
    socket.destroy();
  });
  return { port, tried: () => tried, stop };
};

/** A mail server that takes every mail, and never answers RCPT TO of tarpit.test. */
const startTarpit = async () => {
  let tried = 0;
  const server = await rudeMailServer((command) =>
    /^RCPT TO:.*@tarpit\.test>/.test(command) && ++tried > 0 ? "silence" : null,
  );
  return { ...server, tried: () => tried };
};
