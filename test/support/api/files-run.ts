import { pathToFileURL } from "node:url";
import { rootDir } from "../../../dev/files/paths.ts";
import { inspectorAt } from "../../../dev/processes/inspector.ts";
import { until } from "../until.ts";

type Script = { url: string; functions: { ranges: { startOffset: number; count: number }[] }[] };

/**
 * Tells which source files a program runs. It is started from its sources, with `--inspect` at this port. A file counts when
 * one of its functions begins; types, constants and what runs as a module is loaded do not.
 */
export const filesRun = async (port: number) => {
  const { call, close } = await inspectorAt(await addressAt(port));
  /** The files of which a function ran since it was last asked. */
  const taken = async (): Promise<Set<string>> => {
    const { result } = (await call("Profiler.takePreciseCoverage")) as { result: Script[] }; // as the protocol says
    return new Set(result.filter(hasRun).map(({ url }) => url.replace(root, "")));
  };
  await call("Profiler.enable");
  await call("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return {
    /** The files of which a function runs while this is done. */
    during: async (work: () => Promise<unknown>): Promise<Set<string>> => {
      await taken();
      await work();
      return taken();
    },
    close,
  };
};

const root = `${pathToFileURL(rootDir).href}/`;

/** The first range of a function is the whole of it; that at 0 is the module's own code, which runs as it is loaded. */
const hasRun = ({ url, functions }: Script): boolean =>
  /^(apiserver|core)\//.test(url.replace(root, "")) &&
  functions.some(({ ranges: [whole] }) => whole !== undefined && whole.startOffset > 0 && whole.count > 0);

const addressAt = async (port: number): Promise<string> => {
  let address = "";
  await until(async () => {
    const reply = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => null);
    const [target] = reply === null ? [] : ((await reply.json()) as { webSocketDebuggerUrl: string }[]);
    address = target?.webSocketDebuggerUrl ?? "";
    return address !== "";
  });
  return address;
};
