import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { bin } from "../files/paths.ts";
import { launch, type Server, type ServerOptions } from "../processes/process.ts";

/** Starts Redis with its default settings, on loopback. */
export const startRedis = async (options: ServerOptions & { port: number }): Promise<Server> => {
  const { dir, port, name = "redis", detached = false } = options;
  const data = join(dir, name);
  mkdirSync(data, { recursive: true });
  const network = ["--port", `${port}`, "--bind", "127.0.0.1"];
  const { pid, ...controls } = await launch({
    name,
    dir,
    detached,
    command: [bin("redis-server"), ...network, "--dir", data, "--set-proc-title", "no"],
    ports: [port],
    marker: `--port ${port} --bind`,
    isReady: () => answersPing(port),
  });
  return { ...controls, pids: [pid], url: `redis://127.0.0.1:${port}` };
};

/** While it loads its data Redis answers -LOADING. */
const answersPing = (port: number): Promise<boolean> =>
  new Promise((done) => {
    const socket = connect({ port, host: "127.0.0.1", timeout: 1000 });
    const finish = (isReady: boolean) => {
      socket.destroy();
      done(isReady);
    };
    socket.once("connect", () => socket.write("PING\r\n"));
    socket.once("data", (reply) => finish(reply.toString().startsWith("+PONG")));
    socket.once("error", () => finish(false));
    socket.once("timeout", () => finish(false));
  });
