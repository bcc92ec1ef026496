// Preloaded into a program (`--import`): writes down each distinct query that it sends to MongoDB, with one example.
import { appendFileSync } from "node:fs";
import { BSON, type CommandStartedEvent, MongoClient } from "mongodb";

/** A query as it was sent: the part of a command that decides which documents the server has to look at. */
export type RecordedQuery = {
  collection: string;
  /** `find`, `aggregate`, … */
  command: string;
  filter?: object;
  /** The index that it asks for by name. */
  hint?: string;
  sort?: object;
  limit?: number;
  pipeline?: object[];
  /** Set when it is a read of the apiserver that the server does not end by itself. */
  isEndless?: true;
  /** Set when it inserts what it does not find. */
  isUpsert?: true;
};

/** Names the file that the queries are written to, one JSON (extended) a line. */
export const queriesVariable = "HERALD_TEST_QUERIES";

const file = process.env[queriesVariable];
const known = new Set<string>();

const keep = (query: RecordedQuery): void => {
  const what = JSON.stringify(query, (_, value: unknown) => shapeOf(value));
  const shape = `${query.collection} ${query.command} ${what}`;
  if (known.has(shape) || file === undefined) return;
  known.add(shape);
  appendFileSync(file, `${BSON.EJSON.stringify(query)}\n`);
};

/** A value's kind stands for it: queries that differ in values only are the same. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.every((one) => typeof one === "string") ? "strings" : value;
  return typeof value === "object" && value !== null ? value : typeof value;
};

const pick = (body: Record<string, unknown>, names: readonly string[]): Partial<RecordedQuery> =>
  Object.fromEntries(names.filter((name) => body[name] !== undefined).map((name) => [name, body[name]]));

const upsert = (of: Record<string, unknown>): Pick<RecordedQuery, "isUpsert"> =>
  of["upsert"] === true ? { isUpsert: true } : {};

const isApiserver = process.argv[1]?.includes("apiserver") === true;

/** The queries in a command. */
const queriesOf = ({ commandName: command, command: body }: CommandStartedEvent): RecordedQuery[] => {
  const collection = String(body[command]);
  const endless = isApiserver && body["maxTimeMS"] === undefined ? { isEndless: true as const } : {};
  switch (command) {
    case "find":
      return [{ collection, command, ...endless, ...pick(body, ["filter", "hint", "sort", "limit"]) }];
    case "aggregate":
      return [{ collection, command, ...endless, pipeline: body["pipeline"], ...pick(body, ["hint"]) }];
    case "count":
    case "distinct":
      return [{ collection, command, ...endless, filter: body["query"], ...pick(body, ["hint"]) }];
    case "findAndModify":
      return [{ collection, command, filter: body["query"], ...upsert(body), ...pick(body, ["hint", "sort"]) }];
    case "update":
      return (body["updates"] as { q: object; hint?: string }[]).map(({ q, ...update }) => ({
        collection,
        command,
        filter: q,
        ...upsert(update),
        ...pick(update, ["hint"]),
      }));
    case "delete":
      return (body["deletes"] as { q: object }[]).map(({ q }) => ({ collection, command, filter: q }));
    default:
      return [];
  }
};

if (file !== undefined) {
  const watched = new WeakSet<MongoClient>();
  const { db } = MongoClient.prototype;
  MongoClient.prototype.db = function (this: MongoClient, ...given) {
    if (!watched.has(this)) {
      watched.add(this);
      Object.assign(this, { monitorCommands: true }); // a setter that the types leave out
      this.on("commandStarted", (event) => {
        for (const query of queriesOf(event)) keep(query);
      });
    }
    return db.apply(this, given);
  };
}
