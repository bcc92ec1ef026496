import { chmod, cp, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compiledFolder } from "#core/runtime/process/compiled-code.ts";
import { nodeEnvironment, nodeFlags } from "../processes/programs.ts";
import { attempt } from "../processes/run-command.ts";
import { programs } from "./bundle.ts";

/** Where the chart has the programs and their compile cache: compiled code is found by how the two lie to one another. */
const places = { programs: "app", cache: "var/cache/herald" };

/**
 * Puts what Node compiles of the bundles in `folder` beside them, for processors of this machine's kind. A program without
 * settings loads everything, says which are missing and ends. The same bundles give the same bytes.
 */
export const compile = async (folder: string): Promise<void> => {
  const root = await mkdtemp(join(tmpdir(), "herald-compile-"));
  const [app, cache] = [join(root, places.programs), join(root, places.cache)];
  try {
    await cp(folder, app, { recursive: true });
    for (const program of programs) {
      const env = { ...withoutSettings(), ...nodeEnvironment, NODE_COMPILE_CACHE: cache };
      const words = [process.execPath, ...nodeFlags, "--random-seed=1", join(app, `${program}.js`)];
      const { stderr } = await attempt(words, { env, cwd: app });
      if (!stderr.includes("HERALD_MONGODB_URL is required")) throw new Error(`${program} was not loaded:\n${stderr}`);
    }
    const [version = ""] = await readdir(cache); // named after Node, its flags, the processor and who runs it
    const kept = join(folder, compiledFolder, process.arch);
    await rm(kept, { recursive: true, force: true });
    await mkdir(join(folder, compiledFolder), { recursive: true });
    await cp(join(cache, version), kept, { recursive: true });
    for (const name of await readdir(kept)) await chmod(join(kept, name), 0o644); // Node lets its user alone read them
  } finally {
    await rm(root, { recursive: true, force: true });
  }
};

/** Settings of whoever runs this would start the programs. */
const withoutSettings = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.keys(process.env).flatMap((name) => (name.startsWith("HERALD_") ? [[name, undefined]] : [])),
  );
