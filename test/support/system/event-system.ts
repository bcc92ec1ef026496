import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { privateServers, testServers } from "../servers/servers.ts";
import { testCredentials } from "./credentials.ts";
import { type ReadEvents, readEvents } from "./events.ts";
import { type System, type SystemProgram, startSystem } from "./system.ts";

/**
 * Starts an apiserver and a dispatcher, on a NATS that can be taken away, before the tests of the `describe` that it is
 * called in, and stops them after them. All objects are filled by then.
 */
export const useEventSystem = () => {
  const servers = {} as Awaited<ReturnType<typeof privateServers<"nats">>>; // sound: filled before the first test
  const system = {} as System; // sound: filled before the first test
  const api = {} as SystemProgram; // sound: filled before the first test
  const stream = {} as ReadEvents; // sound: filled before the first test
  before(async () => {
    Object.assign(servers, await privateServers({ nats: true }));
    const stores = { ...(await testServers()), natsUrl: servers.nats.url };
    const apns = { url: "https://127.0.0.1:9", credentials: testCredentials() };
    Object.assign(system, await startSystem({ ...stores, apns }));
    const [started] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    Object.assign(api, started);
    Object.assign(stream, await readEvents(servers.nats.url, system.prefix));
  });
  after(async () => {
    await stream.close?.();
    await system.stop?.();
    await servers.close?.();
  });
  const rows = () => system.db.collection<EventBatchRow>("event_batches");
  /** Finds the batches whose events are not published yet. */
  const batches = { events: { $exists: true } };
  const isEmpty = async (): Promise<boolean> => (await rows().countDocuments(batches)) === 0;
  return { servers, system, api, stream, rows, batches, isEmpty };
};
