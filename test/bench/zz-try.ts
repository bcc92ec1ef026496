import { MongoClient } from "mongodb";
import { startApns } from "../../dev/simulators/apns.ts";
import { makeCredentials } from "../../dev/simulators/credentials.ts";
import { blast } from "../bench/blast.ts";
import { startSystem } from "../support/system.ts";

const n = Number(process.argv[2] ?? 1000);
const credentials = makeCredentials();
const apns = await startApns({ port: 0, tls: credentials.tls, keys: [credentials.apns] });
const system = await startSystem({
  mongodbUrl: "mongodb://127.0.0.1:27100/?directConnection=true",
  natsUrl: "nats://127.0.0.1:27103",
  redisUrl: "redis://127.0.0.1:27105",
  apns: { url: apns.url, credentials },
});
try {
  const api = await system.start("apiserver");
  const dispatcher = await system.start("dispatcher", process.env.NO ? { NODE_OPTIONS: process.env.NO } : {});
  console.log("started");
  console.log(await blast(system, { apiserver: api, dispatcher, recipients: n }));
  console.log(apns.log.counts());
  await dispatcher.stop();
} catch (e) {
  console.log("ERR", e);
} finally {
  if (!process.env.KEEP) await system.stop();
  await apns.stop();
}
process.exit(0);
