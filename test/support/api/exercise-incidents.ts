import type { Ask } from "./exercise.ts";

/** What only the operating tenant may: the apiserver is to be started with its name. */
export const useIncidents = async (ask: Ask): Promise<void> => {
  const body = { title: "Late", severity: "minor", components: ["delivery"], message: "We look into it." };
  const made = await ask("POST", "/v1/incidents", body);
  const path = `/v1/incidents/${String(made["id"])}`;
  await ask("POST", `${path}/updates`, { status: "resolved", message: "Done." });
  await ask("PATCH", path, { severity: "major" });
  await ask("GET", path);
  await ask("GET", "/v1/incidents?limit=1&status=resolved");
  const other = await ask("POST", "/v1/incidents", body);
  await ask("DELETE", `/v1/incidents/${String(other["id"])}`);
};
