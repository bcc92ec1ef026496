import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Names this process's part of the ports, as `0/4`: the first of four. Processes that run at once have one each. */
export const portsVariable = "HERALD_TEST_PORTS";

/**
 * Below the ports that the system gives to outgoing connections (32768 and up), or one of them might take a port while
 * the server that has it is restarted. Above 10080, the last that `fetch` asks nobody at. Source: WHATWG Fetch, "bad port".
 */
const all = { from: 10_081, to: 27_000 };

const given = new Set<number>();

/**
 * Ports nobody listens on now, of this process's part, and none that was given before: who asked for that may not listen
 * yet.
 */
export const freePorts = async (count: number): Promise<number[]> => {
  const { from, to } = partOf(process.env[portsVariable] ?? "0/1");
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    if (tries > 1_000) throw new Error(`${count} free ports cannot be found from ${from} to ${to}`);
    const port = randomInt(from, to);
    if (given.has(port) || !(await isFree(port)) || given.has(port)) continue; // or somebody asked meanwhile
    given.add(port);
    ports.push(port);
  }
  return ports;
};

/** Whether nobody listens on a port of loopback. */
export const isFree = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const listener = createServer().listen(port, "127.0.0.1", () => listener.close(() => done(true)));
    listener.once("error", () => done(false));
  });

const partOf = (part: string): { from: number; to: number } => {
  const [place = 0, places = 1] = part.split("/").map(Number);
  const size = Math.floor((all.to - all.from) / places);
  const from = all.from + place * size;
  return { from, to: from + size };
};
