import { createInbox, type Msg, type Subscription } from "@nats-io/nats-core";
import type { Log } from "../../runtime/process/log.ts";
import type { Nats } from "./connect.ts";
import { type Hint, hintOf } from "./hint.ts";

export type PullerOptions = {
  nats: Nats;
  stream: string;
  consumer: string;
  concurrency: number;
  /** Places that are free for more messages, beside those that were asked for; `isBusy`: the last request was met in full. */
  mayAsk: (isBusy: boolean) => number;
  /** Places that a message takes, and as many as one is thought to take before the first has come. */
  placesOf: (hint: Hint) => number;
  firstPlaces: number;
  onHint: (hint: Hint) => void;
  /** Makes the stream and its consumer when they are not there. */
  repair?: (() => Promise<unknown>) | undefined;
  log: Log;
};

const expiresMs = 5_000; // a request lost with a restart of JetStream is replaced after so long, at the latest
const slackMs = 1_000;
const lingerMs = 10; // a request for few messages waits so long until more may be asked for
const retryMs = { first: 250, most: 5_000 };

/**
 * Asks JetStream for as many messages as it has places for, one request at a time. Our own instead of the client's
 * `consume`, which fetches ahead of its handlers: a hint that waits in memory outlives its acknowledgement time and is
 * delivered twice. Recovers by itself from a lost connection, from a restart of JetStream, and from a stream or
 * consumer that was deleted or is not there yet.
 */
export class Puller {
  readonly #options: PullerOptions;
  readonly #inbox = createInbox();
  #subscription: Subscription | undefined;
  #forgetReconnect = (): void => undefined;
  #isStopped = false;
  #isRepairing = false;
  /** Number of the latest request: a status of an older one is ignored. */
  #request = 0;
  /** Places that a message takes, of late. */
  #meanPlaces: number;
  /** Messages that may still come by the latest request. */
  #left = 0;
  /** Whether the last request that ended was met in full. */
  #isBusy = false;
  #failures = 0;
  /** The latest request's end or the next one's begin. */
  #timer: NodeJS.Timeout | undefined;

  constructor(options: PullerOptions) {
    this.#options = options;
    this.#meanPlaces = options.firstPlaces;
  }

  start(): void {
    const { nats } = this.#options;
    this.#subscription = nats.nc.subscribe(`${this.#inbox}.*`, {
      callback: (error, message) => this.#onReply(error, message),
    });
    this.#forgetReconnect = nats.onReconnect(() => this.#ask());
    this.#ask();
  }

  /** Places that messages may take which were asked for and have not come. */
  get asked(): number {
    return this.#left * this.#meanPlaces;
  }

  /** Says that there are places again. */
  freed(): void {
    if (this.#left > 0 || this.#isStopped || this.#failures > 0) return;
    const { concurrency, mayAsk } = this.#options;
    if (mayAsk(this.#isBusy) >= concurrency / 2) this.#ask();
    else this.#askIn(lingerMs);
  }

  /** Asks for nothing more. What had been asked for and still comes is handed over until this resolves. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    this.#forgetReconnect();
    if (this.#options.nats.isConnected() && !this.#subscription?.isClosed()) await this.#subscription?.drain();
  }

  #ask(): void {
    const { nats, stream, consumer } = this.#options;
    clearTimeout(this.#timer);
    this.#left = 0;
    const free = this.#options.mayAsk(this.#isBusy);
    const most = free <= 0 ? 0 : Math.max(1, Math.floor(free / this.#meanPlaces));
    if (this.#isStopped || most <= 0 || !nats.isConnected()) return; // `freed` or the reconnection asks again
    this.#left = most;
    this.#request++;
    this.#timer = setTimeout(() => this.#ask(), expiresMs + slackMs);
    const body = JSON.stringify({ batch: most, expires: expiresMs * 1e6 });
    nats.nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, body, {
      reply: `${this.#inbox}.${this.#request}`,
    });
  }

  #askIn(ms: number): void {
    this.#left = 0;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ask(), ms);
  }

  /** A status has the inbox as its subject, a message its own. */
  #onReply(error: Error | null, message: Msg): void {
    const { stream, consumer, onHint, placesOf, log } = this.#options;
    if (error !== null) return log.error({ stream, consumer, err: error }, "consumer.refused");
    if (message.subject.startsWith(this.#inbox)) return this.#onStatus(message);
    const hint = hintOf(message);
    if (hint === null) return;
    this.#recover();
    this.#meanPlaces = 0.8 * this.#meanPlaces + 0.2 * placesOf(hint);
    onHint(hint);
    if (this.#left === 0 || --this.#left > 0) return;
    this.#isBusy = true;
    this.#ask();
  }

  #onStatus({ subject, headers }: Msg): void {
    if (subject !== `${this.#inbox}.${this.#request}` || headers === undefined || this.#isStopped) return;
    const { code, description } = headers;
    if (code === 404 || code === 408) return this.#askAfterSilence();
    const { stream, consumer, log } = this.#options;
    if (this.#failures++ === 0) log.warn({ stream, consumer, code, description }, "consumer.away");
    void this.#repair();
    this.#askIn(Math.min(retryMs.first * 2 ** (this.#failures - 1), retryMs.most));
  }

  /** One at a time; what fails is tried again with the next answer that nothing is there. */
  async #repair(): Promise<void> {
    const { repair, stream, consumer, log } = this.#options;
    if (repair === undefined || this.#isRepairing) return;
    this.#isRepairing = true;
    try {
      await repair();
    } catch (err) {
      log.warn({ stream, consumer, err }, "consumer.not_repaired");
    }
    this.#isRepairing = false;
  }

  /** Nothing came in time: the consumer is there and has no work. */
  #askAfterSilence(): void {
    this.#isBusy = false;
    this.#recover();
    this.#ask();
  }

  #recover(): void {
    const { stream, consumer, log } = this.#options;
    if (this.#failures > 0) log.info({ stream, consumer, failures: this.#failures }, "consumer.back");
    this.#failures = 0;
  }
}
