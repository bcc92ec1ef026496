import { join } from "node:path";
import { bin } from "../paths.ts";
import { answersHttp, launch, type Server, type ServerOptions } from "./process.ts";

/** Starts nats-server with JetStream, on loopback. Throws below 2.15: 2.9 and 2.10 ignore what they do not know. */
export const startNats = async (options: ServerOptions & { port: number; monitorPort: number }): Promise<Server> => {
  const { dir, port, monitorPort, name = "nats", detached = false } = options;
  const store = join(dir, name);
  const { pid, ...controls } = await launch({
    name,
    dir,
    detached,
    command: [bin("nats-server"), "-a", "127.0.0.1", "-p", `${port}`, "-m", `${monitorPort}`, "-js", "-sd", store],
    ports: [port, monitorPort],
    marker: `-p ${port} -m ${monitorPort}`,
    isReady: () => answersHttp(`http://127.0.0.1:${monitorPort}/healthz`), // ready only with JetStream recovered
  });
  await assertVersion(monitorPort).catch(async (error: unknown) => {
    await controls.stop();
    throw error;
  });
  return { ...controls, pids: [pid], url: `nats://127.0.0.1:${port}` };
};

const assertVersion = async (monitorPort: number): Promise<void> => {
  const reply = await fetch(`http://127.0.0.1:${monitorPort}/varz`);
  const { version } = (await reply.json()) as { version: string }; // documented: NATS monitoring, /varz
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 2 || (major === 2 && minor < 15)) throw new Error(`nats-server ${version} is too old: 2.15 is needed`);
};
