import { join } from "node:path";
import { rootDir } from "../files/paths.ts";
import { answersHttp, launch, type ServerProcess } from "./process.ts";

export type ProgramName = "operator" | "apiserver" | "dispatcher";

/**
 * How one of the three programs is started. `env` holds its settings (docs/config), and may say otherwise than ours where
 * bundles are; `name` sets it apart in `dir`.
 */
export type ProgramOptions = {
  program: ProgramName;
  name?: string;
  dir: string;
  healthPort: number;
  env: Readonly<Record<string, string>>;
  detached?: boolean;
  /** What has to answer with 2xx: `/readyz` unless said otherwise. */
  awaited?: AwaitedAnswer;
};

export type AwaitedAnswer = "/healthz" | "/readyz";

/**
 * A program's flags of Node, as in package.json: a young generation that outlives a burst's garbage, an old one that
 * is collected when it has grown by three quarters, not by three times, and a collection that a program may ask for.
 */
export const nodeFlags = ["--max-semi-space-size=16", "--heap-growing-percent=75", "--expose-gc"];

/** What the image sets: threads share two areas of memory, which takes 4 MB less than one for each. */
export const nodeEnvironment = { MALLOC_ARENA_MAX: "2" };

/** Names a folder with the programs' bundles, which are started in place of their sources; the sources where it is empty. */
export const bundleVariable = "HERALD_BUNDLE";

/** Starts a program as its image does, and waits until it is ready, or lives. */
export const startProgram = ({
  program,
  name = program,
  dir,
  healthPort,
  env,
  detached = false,
  awaited = "/readyz",
}: ProgramOptions): Promise<ServerProcess> => {
  const file = programFile(program, env[bundleVariable]);
  return launch({
    name,
    dir,
    command: [join(rootDir, "node_modules/.bin/node"), ...nodeFlags, file],
    marker: file,
    ports: [healthPort, ...(env["HERALD_HTTP_PORT"] ? [Number(env["HERALD_HTTP_PORT"])] : [])],
    detached,
    isReady: () => answersHttp(`http://127.0.0.1:${healthPort}${awaited}`),
    env: {
      ...nodeEnvironment,
      NODE_COMPILE_CACHE: join(rootDir, ".dev/compile-cache"),
      ...env,
      HERALD_HEALTH_PORT: String(healthPort),
    },
  });
};

/** What Node is started with: the program's bundle where there is one, its source otherwise. */
export const programFile = (program: ProgramName, folder = process.env[bundleVariable]): string =>
  folder ? join(folder, `${program}.js`) : join(rootDir, program, "main.ts");
