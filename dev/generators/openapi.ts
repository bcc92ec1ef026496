import { document } from "../../apiserver/features.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** The REST interface's description, as it is served at /v1/openapi.json. */
export const openapiFile = (): GeneratedFile[] => [
  { path: "docs/openapi.json", text: `${JSON.stringify(document(), null, 2)}\n` },
];
