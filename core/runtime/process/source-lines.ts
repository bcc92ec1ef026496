import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Place, placesIn } from "./source-map.ts";

/**
 * Has stack traces of a bundled program name the sources' files and lines. A bundle's map is read when a trace names a place
 * of it that none has named before, and not kept: `--enable-source-maps` keeps them all, which takes 26 MB of an idle
 * dispatcher. Sources that run as they are need none of it.
 */
export const nameSourceLines = (moduleUrl: string): void => {
  if (!moduleUrl.endsWith(".js")) return;
  const folder = moduleUrl.slice(0, moduleUrl.lastIndexOf("/") + 1);
  const sourceOf = sourcePlaces(folder, readMap);
  Error.prepareStackTrace = (error, sites: readonly Site[]) => {
    const frames = sites.map((site) => ({ text: String(site), place: placeOf(site) }));
    const named = sourceOf(frames.flatMap(({ place }) => (place === null ? [] : [place])));
    const lines = frames.map(({ text, place }) => {
      const source = place === null ? undefined : named.get(keyOf(place));
      return `\n    at ${source === undefined || place === null ? text : text.replace(keyOf(place), source)}`;
    });
    return headOf(error) + lines.join("");
  };
};

type Site = {
  getFileName: () => string | null | undefined;
  getLineNumber: () => number | null;
  getColumnNumber: () => number | null;
  toString: () => string;
};
/** A place in a bundle: the address of the file, its line and column from 1. */
export type BundlePlace = Place & { file: string };

const placeOf = (site: Site): BundlePlace | null => {
  const [file, line, column] = [site.getFileName(), site.getLineNumber(), site.getColumnNumber()];
  return file && line && column ? { file, line, column } : null;
};

const keyOf = ({ file, line, column }: BundlePlace): string => `${file}:${line}:${column}`;

const keptPlaces = 2_000; // more than the programs have places that errors come from

/** Gives the sources' `file:line:column` of places in bundles of a folder, and remembers them. Never throws. */
export const sourcePlaces = (folder: string, read: (file: string) => string) => {
  const known = new Map<string, string>();
  return (places: readonly BundlePlace[]): ReadonlyMap<string, string> => {
    const unknown = places.filter((place) => place.file.startsWith(folder) && !known.has(keyOf(place)));
    if (known.size + unknown.length > keptPlaces) known.clear();
    for (const [file, some] of Map.groupBy(unknown, (place) => place.file)) {
      const found = sourcesOf(some, file, read);
      some.forEach((place, n) => known.set(keyOf(place), found[n] ?? keyOf(place)));
    }
    return known;
  };
};

const sourcesOf = (places: readonly BundlePlace[], file: string, read: (file: string) => string): (string | null)[] => {
  try {
    return placesIn(read(file), places);
  } catch {
    return []; // a trace of bundled lines is better than none
  }
};

const readMap = (file: string): string => readFileSync(`${fileURLToPath(file)}.map`, "utf8");

const headOf = (error: unknown): string => {
  try {
    return String(error);
  } catch {
    return "Error"; // its toString throws
  }
};
