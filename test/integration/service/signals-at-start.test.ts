import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { rootDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { nodeFlags, type ProgramName, programFile } from "../../../dev/processes/programs.ts";
import { testServers } from "../../support/servers/servers.ts";
import { inSuite } from "../../support/suite/soak.ts";
import { until } from "../../support/until.ts";
import { environmentOf, type Installation, installation } from "../operator/support/harness.ts";

/** When the signal comes: at first while the modules are loaded, from 1 on until everything works. */
const points = inSuite([0.4, 0.8, 1.6], { soak: [0, 0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 1.8] });

/** Of loading the modules: by then Node itself has come up, and main.ts has been run. */
const heededBy = 0.7;

/** Where a program has no handler yet, the signal ends it here; where it is process 1 of a container, it is ignored. */
describe("a program that gets SIGTERM while it starts", () => {
  let herald: Installation;
  let env: NodeJS.ProcessEnv;
  let child: ChildProcess | undefined;

  before(async () => {
    herald = await installation();
    const { redisUrl } = await testServers();
    const [healthPort = 0, httpPort = 0] = await freePorts(2);
    env = environmentOf(herald, {
      HERALD_REDIS_URL: redisUrl,
      HERALD_HEALTH_PORT: String(healthPort),
      HERALD_HTTP_PORT: String(httpPort),
      NODE_COMPILE_CACHE: join(rootDir, ".dev/compile-cache"),
    });
  });
  afterEach(() => child?.kill("SIGKILL"));
  after(() => herald.close());

  for (const program of ["operator", "apiserver", "dispatcher"] as const) {
    it(`is heeded by the ${program} before it has loaded its modules, and at every point from then on`, async () => {
      const { loadedMs, startedMs } = await begin(program).whole();
      for (const point of points) {
        const one = begin(program);
        await sleep(point <= 1 ? loadedMs * point : loadedMs + (startedMs - loadedMs) * (point - 1)); // is what is tried
        const ended = await one.stop();
        if (point > heededBy) expect(ended, `stopped at ${point}: ${one.output()}`).to.equal(0);
        else expect(ended, one.output()).to.be.oneOf([0, "SIGTERM"]);
      }
    });
  }

  const begin = (program: ProgramName) => {
    const beganMs = performance.now();
    const started = spawn(process.execPath, [...nodeFlags, programFile(program)], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = started;
    const ended = once(started, "close");
    let output = "";
    for (const stream of [started.stdout, started.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    }
    const stop = async (): Promise<unknown> => {
      started.kill("SIGTERM");
      const [code, signal] = (await ended) as [number | null, string | null];
      return code ?? signal;
    };
    const said = async (event: string): Promise<number> => {
      await until(() => output.includes(`"${event}"`), 60_000, 20);
      return performance.now() - beganMs;
    };
    const whole = async (): Promise<{ loadedMs: number; startedMs: number }> => {
      const times = { loadedMs: await said("config.loaded"), startedMs: await said("program.started") };
      expect(await stop()).to.equal(0);
      return times;
    };
    return { whole, stop, output: () => output };
  };
});
