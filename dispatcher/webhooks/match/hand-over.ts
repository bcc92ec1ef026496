import type { Msg, Subscription } from "@nats-io/nats-core";
import { LRUCache } from "lru-cache";
import { type Static, Type } from "typebox";
import type { OwnerTiming } from "#core/domain/timing.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { Accept, Wanted } from "../accept/accept.ts";
import type { Shares } from "../shares/shares.ts";
import { Event, Id } from "./event-batch.ts";

/** Events of one app, of one message of JetStream, and which endpoints want which of them. */
export type Batch = {
  appId: string;
  wanted: readonly Wanted[];
  isRepeated: boolean;
  /** W3C trace context of the message. */
  traceparent?: string | null | undefined;
};

export type HandOver = {
  /** Gives a batch to another process; answers what that does not take. What it takes is stored. Never rejects. */
  give: (owner: string, batch: Batch) => Promise<Wanted[]>;
  /** Waits no longer for what a process was asked: it may be gone. */
  giveUp: (owner: string) => void;
};

const HandedOver = Type.Object({
  app_id: Id,
  events: Type.Array(Event, { maxItems: 1000 }),
  /** Which of the events each endpoint wants, by their place. */
  wanted: Type.Array(
    Type.Object({ endpoint_id: Id, events: Type.Array(Type.Integer({ minimum: 0 }), { maxItems: 1000 }) }),
  ),
  is_repeated: Type.Boolean(),
  /** Of a message that is traced. */
  traceparent: Type.Optional(Type.String({ maxLength: 55 })),
});
type HandedOver = Omit<Static<typeof HandedOver>, "events"> & { events: EventEnvelope[] };

const Refused = Type.Array(Type.Array(Id));

const readBatches: (input: unknown) => HandedOver[] = parser(Type.Array(HandedOver));
const readRefused: (input: unknown) => Static<typeof Refused> = parser(Refused);

/** Batches that come within a moment share a request, as long as it stays well below the 1 MiB that NATS takes by default. */
const requests = { everyMs: 25, most: 200, inFlight: 64 };
const mostCharacters = 256 * 1024; // of up to three bytes each; one batch has some 110 KB at most
/** Requests of others that are answered at once; more are refused. */
const mostAnswering = 256;
const mostOwners = 100;

export type HandOverDeps = {
  nats: Pick<Nats, "nc">;
  subjects: Pick<Subjects, "webhookOwner">;
  shares: Pick<Shares, "doubt">;
  /** An owner that falls behind answers late, and is waited for as long as it beats: what it was given is in its memory. */
  timing: { owners: Pick<OwnerTiming, "answerMs"> };
  /** Counts endpoints whose events another process has stored. */
  handedOver: (endpoints: number) => void;
  log: Log;
};

/** Asks owners over core NATS: at once, and under load with several batches in a request. */
export const handingOver = (deps: HandOverDeps): HandOver => {
  const { subjects, shares, handedOver, log } = deps;
  const { nc } = deps.nats;
  const timeout = deps.timing.owners.answerMs;
  const waiting = new Map<string, Set<(error: Error) => void>>();
  const answered = async (owner: string, request: Promise<Msg>): Promise<Msg> => {
    const { promise, resolve, reject } = Promise.withResolvers<Msg>();
    const all = waiting.get(owner) ?? new Set();
    waiting.set(owner, all.add(reject));
    request.then(resolve, reject);
    return promise.finally(() => all.delete(reject) && all.size === 0 && waiting.delete(owner));
  };
  const ask = async (owner: string, batches: readonly Text[]): Promise<Wanted[][]> => {
    const body = `[${batches.map(({ text }) => text).join(",")}]`;
    if (Buffer.byteLength(body) > (nc.info?.max_payload ?? 0)) return batches.map(({ wanted }) => [...wanted]);
    const reply = await answered(owner, nc.request(subjects.webhookOwner(owner), body, { timeout }));
    const refused = readRefused(reply.json()).map((ids) => new Set(ids));
    return batches.map(({ wanted }, i) => wanted.filter(({ endpoint }) => refused[i]?.has(endpoint._id) !== false));
  };
  const asking = (owner: string) =>
    gather<Text, Wanted[]>({
      ...requests,
      write: async (batches) => {
        const answers = inRequests(batches).map((some) =>
          ask(owner, some).catch((err: unknown) => {
            shares.doubt(owner);
            log.warn({ err, owner }, "webhook_owner.silent");
            return some.map(({ wanted }) => [...wanted]);
          }),
        );
        return (await Promise.all(answers)).flat();
      },
    });
  const owners = new LRUCache<string, ReturnType<typeof asking>>({ max: mostOwners });
  return {
    give: async (owner, batch) => {
      const give = owners.get(owner) ?? asking(owner);
      owners.set(owner, give);
      const refused = await give({ wanted: batch.wanted, text: JSON.stringify(writeBatch(batch)) });
      handedOver(batch.wanted.length - refused.length);
      return refused;
    },
    giveUp: (owner) => {
      for (const reject of waiting.get(owner) ?? []) reject(new Error("it has not written for a while"));
    },
  };
};

/** A batch as it is written into a request. */
type Text = Pick<Batch, "wanted"> & { text: string };

/** As many batches in each request as fit. */
const inRequests = (batches: readonly Text[]): Text[][] => {
  const made: Text[][] = [];
  let left = 0;
  for (const batch of batches) {
    left -= batch.text.length;
    const last = made.at(-1);
    if (last !== undefined && left >= 0) last.push(batch);
    else {
      made.push([batch]);
      left = mostCharacters - batch.text.length;
    }
  }
  return made;
};

/** Each event once. */
const writeBatch = ({ appId, wanted, isRepeated, traceparent }: Batch): HandedOver => {
  const places = new Map<EventEnvelope, number>();
  const placeOf = (event: EventEnvelope): number => {
    const place = places.get(event) ?? places.size;
    places.set(event, place);
    return place;
  };
  const placed = wanted.map(({ endpoint, events }) => ({ endpoint_id: endpoint._id, events: events.map(placeOf) }));
  const batch = { app_id: appId, events: [...places.keys()], wanted: placed, is_repeated: isRepeated };
  return isSampled(traceparent) ? { ...batch, traceparent } : batch;
};

export type TakeOverDeps = Pick<HandOverDeps, "nats" | "subjects" | "log"> & {
  /** Unique to this process. */
  holder: string;
  directory: Pick<Directory, "webhooksOf">;
  shares: Pick<Shares, "fenceOf">;
  accept: Accept;
};

/** Takes the events that other processes hand over for endpoints of this one; answers when they are stored. */
export const takingOver = (deps: TakeOverDeps): Part => {
  const answering = new Set<Promise<void>>();
  let subscription: Subscription | undefined;
  const onRequest = (message: Msg): void => {
    const one = answer(deps, message, answering.size >= mostAnswering).finally(() => answering.delete(one));
    answering.add(one);
  };
  return {
    name: "webhook events of others",
    start: async () => {
      subscription = deps.nats.nc.subscribe(deps.subjects.webhookOwner(deps.holder), {
        callback: (error, message) => {
          if (error === null) onRequest(message);
        },
      });
      await deps.nats.nc.flush();
    },
    stop: async () => {
      subscription?.unsubscribe();
      await Promise.all(answering);
    },
  };
};

/** Never rejects: what is not taken, or only perhaps, is stored by the one who asked. */
const answer = async (deps: TakeOverDeps, message: Msg, isFull: boolean): Promise<void> => {
  try {
    const batches = readBatches(message.json());
    const refused = isFull ? [] : await Promise.all(batches.map((batch) => take(deps, batch)));
    message.respond(JSON.stringify(refused));
  } catch (err) {
    deps.log.warn({ err }, "webhook_events.not_taken");
    message.respond("[]");
  }
};

/** Ids of the endpoints whose events were not taken. */
const take = async ({ directory, shares, accept }: TakeOverDeps, batch: HandedOver): Promise<string[]> => {
  const wanted = new Map(batch.wanted.map((one) => [one.endpoint_id, one.events]));
  const found: Wanted[] = [];
  for (const endpoint of await directory.webhooksOf(batch.app_id)) {
    const places = wanted.get(endpoint._id);
    if (places === undefined || shares.fenceOf(endpoint._id) === null) continue;
    found.push({ endpoint, events: places.flatMap((place) => batch.events[place] ?? []) });
  }
  await accept(found, batch.is_repeated, batch.traceparent);
  const taken = new Set(found.map(({ endpoint }) => endpoint._id));
  return idsOf(batch).filter((id) => !taken.has(id));
};

const idsOf = ({ wanted }: HandedOver): string[] => wanted.map(({ endpoint_id: id }) => id);
