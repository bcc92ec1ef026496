import { isAbsolute, join, relative } from "node:path";
import { binDir, rootDir } from "../files/paths.ts";
import { namespace } from "./resources.ts";
import type { Addresses } from "./settings.ts";

/** Something for a person to type; a test runs each, and the README shows no others. */
export type Command = { about: string; command: string };

/** What to try after the demo, from the checkout's folder, in this order: later ones use what earlier ones set. */
export const commands = (at: Pick<Addresses, "rest">, kubeconfig: string): Command[] => [
  {
    about: "kubectl and where the Kubernetes API is",
    command: `export PATH=${shown(binDir)}:$PATH KUBECONFIG=${shown(kubeconfig)}`,
  },
  {
    about: "The API key: the operator wrote it into a Secret",
    command: `TOKEN=$(kubectl -n ${namespace} get secret shop-backend -o jsonpath='{.data.token}' | base64 -d)`,
  },
  {
    about: "Send a notification",
    command: [
      `curl -sS -w '\\n' ${at.rest}/v1/notifications -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\`,
      `  -d '{"target": {"include_external_ids": ["ada"]}, "contents": {"en": "Hello from the shell"}}'`,
    ].join("\n"),
  },
  {
    about: "Import users from a file as OneSignal exports it",
    command: [
      `APP=$(kubectl -n ${namespace} get secret shop-backend -o jsonpath='{.data.app_id}' | base64 -d)`,
      `curl -sS -w '\\n' ${at.rest}/v1/apps/$APP/imports -H "Authorization: Bearer $TOKEN" \\`,
      "  -F type=thirdparty_players -F file=@dev/demo/players.csv",
    ].join("\n"),
  },
  { about: "The custom resources and their state", command: "kubectl get herald -A" },
  { about: "The REST interface as OpenAPI 3.1", command: `curl -sS -w '\\n' ${at.rest}/v1/openapi.json` },
];

/** A path as one types it in the checkout's folder. */
const shown = (path: string): string => {
  const inside = relative(rootDir, path);
  return inside.startsWith("..") || isAbsolute(inside) ? path : join("$PWD", inside);
};
