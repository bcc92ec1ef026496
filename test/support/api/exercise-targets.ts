import { type Sending, send } from "../system/sending.ts";
import type { SystemProgram } from "../system/system.ts";
import { until } from "../until.ts";
import type { Ask } from "./exercise.ts";

/**
 * Messages to addresses that they name themselves, to one address of each person, and to people near a place, whom an export
 * lists, too. Users `ann` and `bob` are there, an account of SMS, and one of e-mail, where nobody listens.
 */
export const useTargets = async (ask: Ask, { system }: Sending, api: SystemProgram): Promise<void> => {
  const app = `/v1/apps/${system.app._id}`;
  await ask("PATCH", `${app}/users/by/external_id/bob`, {
    location: { lat: 52.5, long: 13.4 },
    amount_spent: 20,
    session_time: 60,
  });
  const near = {
    all: [{ field: "location", op: "within_radius", value: { lat: 52.52, long: 13.41, radius_m: 10_000 } }],
  };
  const addresses = { email_to: ["new@example.com"], include_phone_numbers: ["+4915112345678"] };
  const mail = { email_subject: "x", email_body: "x" };
  for (const target of [addresses, { filters: near }]) {
    const asked = { app_id: system.app._id, target, contents: { en: "x" }, ...mail };
    await ask("POST", "/v1/notifications/estimate", asked);
  }
  const ids = [
    await send(system, api, { target: { include_phone_numbers: ["+4915112345679"] }, contents: { en: "x" } }),
    await send(system, api, { target: { include_external_ids: ["ann", "bob"] }, one_per_user: true }),
    await send(system, api, { target: { filters: near } }),
  ];
  for (const id of ids) await system.ended(id, 120_000);
  const { id: segment } = await ask("POST", `${app}/segments`, { name: "Near", filter: near });
  const { id: made } = await ask("POST", `${app}/exports`, { type: "users", filters: { segment_id: segment } });
  const isCompleted = async () => (await ask("GET", `${app}/exports/${String(made)}`))["status"] === "completed";
  await until(isCompleted, 60_000);
};
