import { transform } from "esbuild";

type Wrapped = { code: string; map: string };

/**
 * Makes a module that esbuild has bundled, its map in it, one of CommonJS and a function of what such a module is given: its
 * code can then be kept after it has run (core/runtime/process/load-bundle.ts).
 */
export const wrapped = async (text: string): Promise<Wrapped> => {
  const { code, map } = await transform(text, {
    format: "cjs",
    platform: "node",
    target: "node24",
    define: { "import.meta.url": "entryUrl" },
    supported: { "dynamic-import": false }, // the loader has all that is loaded later, too
    minifyWhitespace: true,
    lineLimit: 120,
    sourcemap: "external",
    sourcesContent: false,
    logLevel: "warning",
  });
  const named = code.replaceAll(/require\("(\.\/[\w.-]+)\.js"\)/g, 'require("$1.cjs")');
  return { code: `(function(exports,require,module,entryUrl){\n${named}})`, map: oneLineLower(map) };
};

const oneLineLower = (map: string): string => {
  const parsed = JSON.parse(map) as { mappings: string }; // as esbuild writes it
  return JSON.stringify({ ...parsed, mappings: `;${parsed.mappings}` });
};
