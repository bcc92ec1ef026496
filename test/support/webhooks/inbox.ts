import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** One request that came; `n` is the number that its event was posted with. */
export type Arrival = {
  n: number;
  eventId: string;
  /** Ids of the events in it: of a batch, each. */
  eventIds: string[];
  attempt: number;
  at: Date;
};

/** What a path answers; a promise delays the answer. */
export type Answer = () => number | Promise<number>;

/** A receiver in the process of the test: it answers 200, or what a path is set to. */
export type Inbox = {
  url: string;
  arrivals: (path: string) => readonly Arrival[];
  answer: (path: string, how: Answer) => void;
  /** Most requests to a path that were under way at once. */
  mostUnderWay: (path: string) => number;
  stop: () => Promise<void>;
};

type Path = { arrivals: Arrival[]; answer: Answer; underWay: number; mostUnderWay: number };

export const startInbox = async (): Promise<Inbox> => {
  const paths = new Map<string, Path>();
  const at = (path: string): Path => {
    const known = paths.get(path) ?? { arrivals: [], answer: () => 200, underWay: 0, mostUnderWay: 0 };
    paths.set(path, known);
    return known;
  };
  const server = createServer((request, response) => {
    const path = at(request.url ?? "");
    path.mostUnderWay = Math.max(path.mostUnderWay, ++path.underWay);
    response.once("close", () => path.underWay--);
    void serve(path, request, response).catch(() => response.destroy()); // the sender broke off
  });
  const listening = Promise.withResolvers<void>();
  server.once("error", listening.reject).listen({ port: 0, host: "127.0.0.1", backlog: 2_048 }, listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo; // a TCP server's address is never a string
  return {
    url: `http://127.0.0.1:${port}`,
    arrivals: (path) => at(path).arrivals,
    answer: (path, how) => {
      at(path).answer = how;
    },
    mostUnderWay: (path) => at(path).mostUnderWay,
    stop: async () => {
      const stopped = Promise.withResolvers<void>();
      server.close(() => stopped.resolve());
      server.closeAllConnections();
      await stopped.promise;
    },
  };
};

const serve = async (path: Path, request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const came = new Date();
  const body = await text(request);
  path.arrivals.push({
    n: Number(/"bench_n":(\d+)/.exec(body)?.[1] ?? Number.NaN),
    eventId: String(request.headers["webhook-id"]),
    eventIds: [...body.matchAll(/"id":"(evt_\w+)"/g)].map(([, id = ""]) => id),
    attempt: Number(request.headers["service-attempt"]),
    at: came,
  });
  response.writeHead(await path.answer()).end();
};

/** What became of the events 0 … count-1 of a path. */
export type InboxAudit = {
  /** Numbers of those that never came. */
  missed: number[];
  /** Requests beyond the first of an event, over all. */
  repeated: number;
  /** Most requests for one event. */
  mostTimes: number;
  /** Event ids that differ: one for each event, however often it came. */
  ids: number;
};

export const auditInbox = (arrivals: readonly Arrival[], count: number): InboxAudit => {
  const byNumber = Map.groupBy(arrivals, ({ n }) => n);
  return {
    missed: Array.from({ length: count }, (_, n) => n).filter((n) => !byNumber.has(n)),
    repeated: arrivals.length - byNumber.size,
    mostTimes: Math.max(0, ...[...byNumber.values()].map(({ length }) => length)),
    ids: new Set(arrivals.map(({ eventId }) => eventId)).size,
  };
};
