import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { type Random, randomFrom } from "../../fuzz/random.ts";
import { endHeaders, endStream, ok, raw, settings, status200, types, u32 } from "./peer.ts";

const faultNames = [
  "goaway",
  "goaway in two steps",
  "goaway without an answer",
  "refused",
  "refused after the answer",
  "reset",
  "silent",
  "cut",
] as const;

/** What the server did instead of an answer, and how often. */
export type Faults = Record<Fault, number>;
type Fault = (typeof faultNames)[number];

export type ChaosPeer = {
  origin: string;
  /** How often each body was taken: by then the server had all of it, and could have acted on it. */
  taken: ReadonlyMap<string, number>;
  faults: Faults;
  /** Streams beyond what the client had acknowledged as the limit. */
  beyondLimit: () => number;
  stop: () => Promise<void>;
};

/** Streams at once, for each of three parts of the pushes. */
const limits = [1, 1_000, 10];

/**
 * A server that takes pushes and answers most of them. About one in `every` it meets with a fault, by the seed: GOAWAY at
 * once and in two steps, with and without answers, RST_STREAM, silence, a TCP reset. Before it resets a connection the
 * client has acknowledged that it may send nothing more: so it has read all, and knows of every request whether it took it.
 */
export const startChaosPeer = async (plan: { pushes: number; every: number; seed: number }): Promise<ChaosPeer> => {
  const state = new State(plan);
  const server = createServer((socket) => new Connection(socket, state));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, // a TCP server's address is never a string
    taken: state.taken,
    faults: state.faults,
    beyondLimit: () => state.beyondLimit,
    stop: async () => {
      for (const { socket } of state.connections) socket.destroy();
      await new Promise((done) => void server.close(done));
    },
  };
};

class State {
  readonly taken = new Map<string, number>();
  readonly connections = new Set<Connection>();
  readonly faults: Faults = {
    goaway: 0,
    "goaway in two steps": 0,
    "goaway without an answer": 0,
    refused: 0,
    "refused after the answer": 0,
    reset: 0,
    silent: 0,
    cut: 0,
  };
  beyondLimit = 0;
  readonly #random: Random;
  readonly #pushes: number;
  readonly #every: number;

  constructor({ pushes, every, seed }: { pushes: number; every: number; seed: number }) {
    this.#random = randomFrom(seed);
    this.#pushes = pushes;
    this.#every = every;
  }

  get limit(): number {
    const part = Math.floor((limits.length * this.taken.size) / this.#pushes);
    return limits[Math.min(part, limits.length - 1)] ?? 1;
  }

  take(body: string): void {
    this.taken.set(body, (this.taken.get(body) ?? 0) + 1);
  }

  nextFault(): Fault | null {
    if (this.#random.below(this.#every) > 0) return null;
    const fault = faultNames[this.#random.below(faultNames.length)] ?? "goaway";
    this.faults[fault]++;
    return fault;
  }
}

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const windowBytes = 30_000; // half of the connection's window: it is widened when so much has come

class Connection {
  readonly socket: Socket;
  readonly #state: State;
  #rest = Buffer.alloc(0);
  #out: Buffer[] = [];
  #isSilent = false;
  #isCut = false;
  #lastStreamId = 0x7fff_ffff;
  #highest = 0;
  #open = 0;
  #received = 0;
  /** The limits that the client may still go by: the one in force first, then those it has not acknowledged. */
  #limits = [Number.POSITIVE_INFINITY];
  #announced = 0;

  constructor(socket: Socket, state: State) {
    this.socket = socket;
    this.#state = state;
    state.connections.add(this);
    socket
      .setNoDelay(true)
      .on("error", () => {})
      .on("close", () => state.connections.delete(this))
      .on("data", (chunk) => this.#read(chunk));
    this.#announce();
    this.#flush();
  }

  #announce(): void {
    this.#announced = this.#state.limit;
    this.#limits.push(this.#announced);
    this.#out.push(settings([3, this.#announced]));
  }

  #read(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    if (this.#rest.toString("latin1", 0, preface.length) === preface) this.#rest = this.#rest.subarray(preface.length);
    while (this.#rest.length >= 9) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      if (end > this.#rest.length) break;
      this.#take(this.#rest.subarray(0, end));
      this.#rest = this.#rest.subarray(end);
    }
    if (!this.#isSilent && this.#state.limit !== this.#announced) this.#announce();
    this.#flush();
  }

  #take(frame: Buffer): void {
    const [type, flags, streamId] = [frame[3], frame[4] ?? 0, frame.readUInt32BE(5)];
    if (type === types.settings && flags === 0) this.#out.push(raw(types.settings, 1, 0));
    else if (type === types.settings) this.#acknowledged();
    else if (type === types.ping && flags === 0) this.#out.push(raw(types.ping, 1, 0, frame.subarray(9)));
    else if (type === types.headers) this.#open++;
    else if (type === types.data && (flags & endStream) !== 0) this.#request(streamId, frame);
  }

  #acknowledged(): void {
    this.#limits.shift();
    if (this.#isCut && this.#limits.length === 1) this.socket.resetAndDestroy();
  }

  #request(streamId: number, frame: Buffer): void {
    this.#received += frame.length - 9;
    if (this.#received > windowBytes) {
      this.#out.push(raw(types.windowUpdate, 0, 0, u32(this.#received)));
      this.#received = 0;
    }
    if (this.#open > Math.max(...this.#limits)) this.#state.beyondLimit++;
    if (streamId > this.#lastStreamId) return;
    const fault = this.#isSilent || this.#lastStreamId < 0x7fff_ffff ? null : this.#state.nextFault();
    if (fault === "refused") return this.#end(raw(types.rstStream, 0, streamId, u32(7)));
    this.#state.take(frame.toString("utf8", 9));
    this.#highest = streamId;
    if (this.#isSilent) return;
    if (fault === null) this.#end(ok(streamId));
    else this.#fail(fault, streamId);
  }

  #fail(fault: Exclude<Fault, "refused">, streamId: number): void {
    switch (fault) {
      case "goaway":
        this.#end(ok(streamId));
        return this.#leave();
      case "goaway in two steps":
        this.#out.push(raw(types.goaway, 0, 0, u32(0x7fff_ffff, 0)));
        this.#end(ok(streamId));
        setImmediate(() => setImmediate(() => this.#leave()));
        return;
      case "goaway without an answer": // this one is left open, and the connection ends once all that came before is answered
        this.#leave();
        this.socket.end();
        return;
      case "refused after the answer":
        this.#out.push(raw(types.headers, endHeaders, streamId, status200));
        return this.#end(raw(types.rstStream, 0, streamId, u32(7)));
      case "reset":
        return this.#end(raw(types.rstStream, 0, streamId, u32(2)));
      case "silent": // the client has to find out by itself
        return this.#fallSilent();
      case "cut": // once the client has acknowledged that it may send no more
        this.#isCut = true;
        this.#limits.push(0);
        this.#out.push(settings([3, 0]));
        return this.#fallSilent();
    }
  }

  #leave(): void {
    if (this.#isSilent) return; // since the first of two steps
    this.#lastStreamId = this.#highest;
    this.#out.push(raw(types.goaway, 0, 0, u32(this.#highest, 0)));
    this.#flush();
  }

  #fallSilent(): void {
    this.#flush();
    this.#isSilent = true;
  }

  #end(answer: Buffer): void {
    this.#open--;
    this.#out.push(answer);
  }

  #flush(): void {
    if (this.#out.length > 0 && this.socket.writable && !this.#isSilent) this.socket.write(Buffer.concat(this.#out));
    this.#out = [];
  }
}
