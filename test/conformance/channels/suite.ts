import { expect } from "chai";
import { NotBegun, type OutcomeKind, type Provider, type Recipient } from "#core/domain/messages/outcome.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import type { ScriptedAnswer } from "../../../dev/simulators/kit/script.ts";
import { until } from "../../support/until.ts";

/** One provider over its simulator, as the suite needs it. `timeoutMs` of the provider must be `sendTimeoutMs`. */
export type ProviderUnderTest<Push> = {
  provider: Provider<Push>;
  /** The same with credentials that the provider refuses. */
  refused: Provider<Push>;
  /** Left out where nobody can be asked about an account: its check finds out what there is without a request. */
  isAskedByCheck?: false;
  simulator: Simulator;
  push: Push;
  /** The n-th recipient: its own delivery id and its own address of the right form. */
  recipient: (n: number) => Recipient;
  /** Resolves once the provider knows that its connections were cut; left out when `start` opens none. */
  connectionsLost?: () => Promise<void>;
  /** Answers of the provider's documentation and the outcome that each must become. */
  answers: readonly { answer: ScriptedAnswer; kind: OutcomeKind }[];
};

export type ProviderSuiteOptions<Push> = {
  name: string;
  /** Starts a fresh simulator and provider; `sendTimeoutMs` is how long one send may take. */
  start: (sendTimeoutMs: number) => Promise<ProviderUnderTest<Push>>;
};

const ampleMs = 20_000; // no send of the suite is to be cut short by a busy machine
const hastyMs = 1_500;

/** What every provider does, whatever its protocol. Run it over each implementation of {@link Provider}. */
export const providerSuite = <Push>({ name, start }: ProviderSuiteOptions<Push>): void => {
  describe(`${name} is a provider`, () => {
    let given: ProviderUnderTest<Push>;
    const send = (n: number, signal = new AbortController().signal) =>
      given.provider.send(given.push, given.recipient(n), signal);
    const sendMany = (count: number) => {
      const { signal } = new AbortController(); // one for all, as the recipients of a chunk have it
      return Promise.all(Array.from({ length: count }, (_, n) => send(n, signal)));
    };

    beforeEach(async () => {
      given = await start(ampleMs);
    });

    const end = async () => {
      await given.provider.close();
      await given.refused.close();
      await given.simulator.stop();
    };
    afterEach(end);

    const check = (provider = given.provider) => provider.check(AbortSignal.timeout(ampleMs));

    it("finds out that an account works, and sends nobody anything", async () => {
      const before = given.simulator.log.counts().accepted;
      expect((await check()).kind).to.be.oneOf(["sent", "token_invalid"]);
      expect(given.simulator.log.counts().accepted).to.equal(before);
    });

    it("finds out that an account's credentials are refused", async () => {
      expect(await check(given.refused)).to.include({ kind: "config_error", code: "PROVIDER_AUTH" });
    });

    it("says of no account that it works, or is refused, while the provider is away", async () => {
      if (given.isAskedByCheck === false) return;
      given.simulator.script({ refuse_connections: true });
      await given.connectionsLost?.();
      for (const provider of [given.provider, given.refused]) expect((await check(provider)).kind).to.equal("retry_at");
    });

    it("still sends after its account was checked", async () => {
      await check();
      expect((await send(1)).kind).to.equal("sent");
    });

    it("hands one push to the provider and says that it was sent", async () => {
      const outcome = await send(1);
      expect(outcome.kind).to.equal("sent");
      expect([...given.simulator.log.tally("address").keys()]).to.deep.equal([given.recipient(1).address]);
    });

    it("reaches each of 200 recipients once when all are sent at the same time", async () => {
      const outcomes = await sendMany(200);
      expect(outcomes.filter(({ kind }) => kind !== "sent")).to.deep.equal([]);
      expect(given.simulator.log.counts()).to.include({ accepted: 200, addresses: 200, repeated_keys: 0 });
    });

    it("maps each documented refusal to its outcome, keeping the provider's own words", async () => {
      for (const [n, { answer, kind }] of given.answers.entries()) {
        given.simulator.script({ answers: [answer] });
        const outcome = await send(n);
        expect(outcome.kind, `${answer.status} ${answer.reason}`).to.equal(kind);
      }
    });

    it("asks for a retry in the future when the provider cannot be reached", async () => {
      given.simulator.script({ refuse_connections: true });
      await given.connectionsLost?.();
      const outcome = await send(1);
      expect(outcome.kind).to.equal("retry_at");
      if (outcome.kind === "retry_at") expect(outcome.at.getTime()).to.be.greaterThan(Date.now());
      expect(given.simulator.log.counts().accepted).to.equal(0);
    });

    it("sends again by itself once a provider that was away is back", async () => {
      given.simulator.script({ refuse_connections: true });
      await given.connectionsLost?.();
      await send(1);
      given.simulator.script({});
      let n = 2;
      await until(async () => (await send(n++)).kind === "sent");
    });

    it("is uncertain, and does not send again, when the link breaks before the answer", async () => {
      given.simulator.script({ reset_every: 1 });
      expect((await send(1)).kind).to.equal("uncertain");
      expect(given.simulator.log.counts()).to.include({ received: 1 });
    });

    it("is uncertain when no answer comes in time", async () => {
      await end();
      given = await start(hastyMs);
      given.simulator.script({ delay_ms: 20_000 });
      expect((await send(1)).kind).to.equal("uncertain");
    });

    it("is uncertain about what was handed over when it is cut off, and hands over nothing after", async () => {
      given.simulator.script({ delay_ms: 20_000 });
      const cut = new AbortController();
      const underWay = send(1, cut.signal);
      await until(() => given.simulator.log.counts().received === 1, ampleMs);
      cut.abort();
      expect((await underWay).kind).to.equal("uncertain");
      const late = await send(2, cut.signal).catch((error: unknown) => error);
      expect(late).to.be.instanceOf(NotBegun);
      expect(given.simulator.log.counts().received).to.equal(1);
    });

    it("hands over none of those that still wait when the work is given up", async () => {
      given.simulator.script({ delay_ms: 1_000 });
      let isOver = false;
      const { provider, push, recipient } = given;
      const sending = Array.from({ length: 150 }, (_, n) =>
        provider.send(push, recipient(n), new AbortController().signal, () => isOver),
      );
      const settled = Promise.allSettled(sending);
      await until(() => given.simulator.log.counts().received > 0, ampleMs);
      isOver = true;
      const givenUp = (await settled).filter(({ status }) => status === "rejected");
      expect(given.simulator.log.counts().received, "received").to.equal(150 - givenUp.length);
      expect(givenUp.length, "given up").to.be.greaterThan(0);
      for (const one of givenUp) expect(one).to.have.property("reason").that.is.instanceOf(NotBegun);
    });

    it("finishes what is under way before it closes", async () => {
      given.simulator.script({ delay_ms: 200 });
      const underWay = send(1);
      await given.provider.close();
      expect((await underWay).kind).to.equal("sent");
    });

    it("never names an address in an outcome", async () => {
      const { answers, simulator, recipient } = given;
      for (const [n, { answer }] of answers.entries()) {
        simulator.script({ answers: [answer] });
        expect(JSON.stringify(await send(n))).not.to.contain(recipient(n).address);
      }
    });
  });
};
