import { operations } from "../../../apiserver/features.ts";
import { code, table } from "./markdown.ts";

type Operation = (typeof operations)[number];

/** Tables of the operations that a part of a page is about, by their pages below docs/ and their names. */
export const operationTables = (): Record<string, Record<string, string>> => ({
  "webhooks.md": { "operations that send again": listed(sendsAgain) },
  "reference/webhooks.md": { "operations that send again": listed(sendsAgain) },
  "reference/analytics.md": { operations: listed(isBelow("/v1/apps/{appId}/analytics/")) },
  "reference/devices.md": {
    "operations on a device's person": listed((one) => isBelow("/sdk/v1/user")(one) && !isOnPreferences(one)),
    "operations on a device's activities": listed(isBelow("/sdk/v1/live-activities/")),
  },
  "reference/live-activities.md": {
    "operations on channels": listed(isBelow("/v1/apps/{appId}/live-activities/types/{activityType}/channels")),
  },
});

const isBelow =
  (path: string) =>
  (one: Operation): boolean =>
    one.path.startsWith(path);

const isOnPreferences = isBelow("/sdk/v1/user/preferences");

const sendsAgain = ({ path }: Operation): boolean => path.includes("/webhooks/") && /\/(?:replay|recover)$/.test(path);

/** @throws Error when there is no such operation: the page then speaks of none */
const listed = (isMeant: (one: Operation) => boolean): string => {
  const meant = operations.filter(isMeant);
  if (meant.length === 0) throw new Error("a page lists operations of which there are none");
  return table(
    ["Request", "Does"],
    meant.map(({ method, path, summary }) => [code(`${method} ${path}`), summary]),
  );
};
