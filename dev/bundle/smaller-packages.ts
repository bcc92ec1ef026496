import { readFile } from "node:fs/promises";
import type { Plugin } from "esbuild";

/** Leaves out of the bundles what packages bring in memory, or do, and the programs do not need. */
export const smallerPackages: Plugin = {
  name: "smaller packages",
  setup: (building) => {
    building.onResolve({ filter: /^whatwg-url$/ }, () => ({ path: "whatwg-url", namespace: "of Node" }));
    building.onLoad({ filter: /./, namespace: "of Node" }, () => ({ contents: nodesUrl }));
    building.onResolve({ filter: /^@mongodb-js\/saslprep$/ }, ({ path, namespace, resolveDir }) =>
      namespace === whenNeeded ? null : { path, namespace: whenNeeded, pluginData: resolveDir },
    );
    building.onLoad({ filter: /./, namespace: whenNeeded }, ({ pluginData }) => ({
      contents: preparedWhenNeeded,
      resolveDir: pluginData as string, // as given above
    }));
    building.onLoad({ filter: /\/nats-core\/lib\/protocol\.js$/ }, async ({ path }) => ({
      contents: withoutCloseTrace(await readFile(path, "utf8")),
    }));
    building.onLoad({ filter: /\/mime-db\/db\.json$/ }, async ({ path }) => ({
      contents: JSON.stringify(usedTypes(JSON.parse(await readFile(path, "utf8")) as TypeTable)), // its documented shape
      loader: "json",
    }));
  },
};

const whenNeeded = "when needed"; // the namespace of what loads a package with its first call

/** MongoDB's driver reads its address by a URL of the same standard, which has tables of 3 MB that are Node's own too. */
const nodesUrl = "exports.URL = globalThis.URL; exports.URLSearchParams = globalThis.URLSearchParams;";

/**
 * Only a password beyond printable ASCII needs to be prepared (RFC 4013, 2), and the tables for that are 8 MB and 20 ms of
 * each start.
 */
const preparedWhenNeeded = `
  const isPrepared = (text) => typeof text === "string" && /^[\\x20-\\x7e]*$/.test(text);
  exports.saslprep = (text, options) => isPrepared(text) ? text : require("@mongodb-js/saslprep").saslprep(text, options);
`;

/**
 * The client writes down where it was closed, and shows it to nobody. To name the sources' lines there takes 38 ms of each
 * orderly end.
 */
const withoutCloseTrace = (source: string): string => {
  const trace = 'new Error("close trace").stack || ""';
  if (!source.includes(trace)) throw new Error("the client of NATS has no close trace any more: leave it as it is");
  return source.replace(trace, '""');
};

type TypeTable = Record<string, { source?: string; charset?: string; extensions?: string[] }>;

/** mime-types, which alone reads the table, asks for extensions and character sets: most types have neither. */
const usedTypes = (table: TypeTable): TypeTable =>
  Object.fromEntries(
    Object.entries(table).flatMap(([type, { source, charset, extensions }]) =>
      charset === undefined && extensions === undefined
        ? []
        : [[type, { ...(source && { source }), ...(charset && { charset }), ...(extensions && { extensions }) }]],
    ),
  );
