// Migrates a database and holds still as soon as half of the documents of the second migration are changed.
import { MongoClient } from "mongodb";
import pino from "pino";
import { migrate } from "#core/storage/migrations/migrate.ts";
import { planted } from "./planted.ts";

const [url = "", database = "", half = ""] = process.argv.slice(2);
const client = await MongoClient.connect(url);
let left = Number(half);
const halting = planted.map((migration) => ({
  ...migration,
  change: (row: object) => {
    if (migration.version === 3 && left-- === 0) {
      process.send?.("half");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // until it is killed
    }
    return migration.change(row);
  },
}));
await migrate(client.db(database), halting, { log: pino({ enabled: false }), signal: new AbortController().signal });
