import type { Measurements } from "../measure-all.ts";
import { measureLinks } from "./links.ts";
import { measurePage } from "./page.ts";
import { measureRegistrations, measureReports } from "./requests.ts";
import { measureStreams } from "./streams.ts";

/** What devices, and the links of messages, ask for. */
export const devices: Measurements = {
  registrations: measureRegistrations,
  reports: measureReports,
  links: measureLinks,
  "inbox-page": measurePage,
  "inbox-streams": measureStreams,
};
