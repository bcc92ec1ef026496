import { privateServers } from "../servers/servers.ts";
import type { System, SystemProgram } from "../system/system.ts";
import { type Hooked, startHooked } from "./chaos.ts";
import type { Inbox } from "./inbox.ts";

/** What a file of faults has: stores that can be taken away, an apiserver, and an organisation of its own. */
export type FaultSite = {
  servers: Awaited<ReturnType<typeof startServers>>;
  api: SystemProgram;
  system: System;
  inbox: Inbox;
};

/**
 * Starts an installation that all files of a process share that import this one, before the tests of the `describe` that
 * it is called in. Each starts dispatchers of its own and stops them. Filled before the first test.
 */
export const useFaultSite = (): FaultSite => {
  const site = {} as FaultSite; // sound: filled before the first test
  before(async () => {
    const { servers, hooked, api } = await (shared ??= start());
    Object.assign(site, { servers, api, system: await hooked.system.another(), inbox: hooked.inbox });
  });
  return site;
};

let shared: Promise<{ servers: FaultSite["servers"]; hooked: Hooked; api: SystemProgram }> | undefined;

const startServers = () => privateServers({ mongodb: true, nats: true, redis: true });

const start = async () => {
  const servers = await startServers();
  const { mongodb, nats, redis } = servers;
  const hooked = await startHooked({ mongodbUrl: mongodb.url, natsUrl: nats.url, redisUrl: redis.url });
  return { servers, hooked, api: await hooked.system.start("apiserver") };
};

/** After all files: this is outside of every `describe`. */
after(async () => {
  const started = await shared?.catch(() => undefined); // who asked for it has failed
  shared = undefined;
  await started?.hooked.close();
  await started?.servers.close();
});
