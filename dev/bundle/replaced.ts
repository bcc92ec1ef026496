import { join, resolve } from "node:path";
import type { Plugin } from "esbuild";
import { rootDir } from "../files/paths.ts";

/** Modules that have others in their place, both by their paths in the repository. The others may import those whose place they take. */
export type Replaced = Readonly<Record<string, string>>;

/** Puts modules in the place of others: what a measurement compares the programs with. */
export const replacing = (replaced: Replaced): Plugin => ({
  name: "replaced modules",
  setup: (building) => {
    if (Object.keys(replaced).length === 0) return;
    building.onResolve({ filter: /^(\.|#core\/).*\.ts$/ }, ({ path, resolveDir, importer }) => {
      const wanted = path.startsWith("#") ? join(rootDir, path.slice(1)) : resolve(resolveDir, path);
      const other = Object.entries(replaced).find(([one]) => join(rootDir, one) === wanted)?.[1];
      if (other === undefined || importer === join(rootDir, other)) return null;
      return { path: join(rootDir, other) };
    });
  },
});
