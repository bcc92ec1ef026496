import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect } from "chai";
import { renderEmail } from "#core/channels/email/render.ts";
import { systemClock as clock } from "#core/domain/clock.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { selfSigned } from "../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../dev/simulators/smtp.ts";
import { encodedMail } from "../../../dispatcher/channels/email/mime-body.ts";
import { type SmtpAccount, smtp } from "../../../dispatcher/channels/email/smtp.ts";
import { guardedClient } from "../../../dispatcher/net/guarded/client.ts";

const tls = selfSigned();
const content = { email_subject: "Hello", email_body: "<p>Hello</p>" };
const settings = { tracking: { opens: false, clicks: false }, transactionalCategories: [] };
const message = encodedMail(renderEmail({ content, options: {} }, settings));
const recipient = { deliveryId: "dlv_1", subscriptionId: "sub_1", address: "ada@example.test" };

const accountOf = ({ url }: Simulator, of: Partial<SmtpAccount> = {}): SmtpAccount => ({
  host: "127.0.0.1",
  port: Number(new URL(url).port),
  security: "starttls",
  login: null,
  ca: tls.cert,
  from: { name: "Shop", address: "news@shop.test" },
  dkim: null,
  links: null,
  bounces: null,
  ...of,
});

describe("the server of an account of e-mail", () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSmtp({ port: 0, tls });
  });
  afterEach(() => simulator.stop());

  describe("at a private or local address that is not allowed", () => {
    const guarded = (resolved: string[]) =>
      guardedClient({ guard: addressGuard({ allow: ["127.0.0.2"] }), resolve: async () => resolved }).connect;
    const check = async (of: Partial<SmtpAccount>, resolved: string[] = []) => {
      const connect = guarded(resolved);
      const provider = smtp({ account: accountOf(simulator, of), connect, clock, timeoutMs: 3_000 });
      const outcomes = [
        await provider.check(AbortSignal.timeout(60_000)),
        await provider.send(message, recipient, AbortSignal.timeout(60_000)),
      ];
      await provider.close();
      return outcomes;
    };
    const refused = {
      kind: "config_error",
      code: "PROVIDER_REJECTED",
      reason: "the server's address is private or local, and not allowed",
    };

    it("is refused without a connection, whatever is there", async () => {
      const silent = createServer().listen(0, "127.0.0.1");
      await once(silent, "listening");
      const ports = [Number(new URL(simulator.url).port), (silent.address() as AddressInfo).port, 1];
      const asked = ports.map((port) => ({ port }));
      for (const outcome of (await Promise.all(asked.map((of) => check(of)))).flat())
        expect(outcome).to.include(refused);
      expect(simulator.log.counts().received).to.equal(0);
      silent.close();
    });

    for (const host of ["169.254.169.254", "127.1", "2130706433", "10.0.0.1", "0"])
      it(`is refused at ${host}`, async () => {
        for (const outcome of await check({ host })) expect(outcome).to.include(refused);
      });

    it("is refused by a name that leads there, if only with one of its addresses", async () => {
      const outcomes = await check({ host: "mail.example.test" }, ["127.0.0.2", "10.0.0.1"]);
      for (const outcome of outcomes) expect(outcome).to.include(refused);
    });
  });

  it("is reached by a name whose addresses are allowed", async () => {
    const { connect } = guardedClient({
      guard: addressGuard({ allow: ["127.0.0.0/8"] }),
      resolve: async () => ["127.0.0.1"],
    });
    const account = accountOf(simulator, { host: "localhost" });
    const provider = smtp({ account, connect, clock, timeoutMs: 3_000 });
    expect((await provider.send(message, recipient, AbortSignal.timeout(60_000))).kind).to.equal("sent");
    await provider.close();
  });
});
