import { buildClient } from "../web-client/build.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** The client for browsers, as the apiserver serves it: it is in its bundle. */
export const webClient = (): GeneratedFile[] => {
  const files = Object.fromEntries(buildClient().map(({ name, text }) => [name, text]));
  return [{ path: "apiserver/web-client/built.json", text: `${JSON.stringify(files, null, 2)}\n` }];
};
