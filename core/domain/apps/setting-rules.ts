import type { FieldError } from "../../errors.ts";
import { mostPageCategories } from "../../schema/apps/pages.ts";
import type { SettingValues } from "../../schema/apps/settings.ts";
import { isSecure } from "../../schema/json/secure-address.ts";
import { identityKey } from "../devices/identity-keys.ts";
import { dayMs } from "../durations.ts";
import { timeOfDayMs } from "../messages/time-of-day.ts";
import { isTimeZone } from "../time-zone.ts";
import { settingsOf } from "./settings.ts";

/** What is wrong with settings that a schema cannot say: asked of REST and of resources alike. */
export const settingProblems = (given: SettingValues): FieldError[] => rules.flatMap((rule) => rule(given));

type Rule = (given: SettingValues) => FieldError[];

const zone: Rule = ({ time_zone: name }) =>
  typeof name === "string" && !isTimeZone(name)
    ? [{ field: "time_zone", message: `${name} is not an IANA time zone` }]
    : [];

const quietHours: Rule = (given) => {
  const { start, end, timezone } = settingsOf(given).quiet_hours;
  const isEmpty = timeOfDayMs(start) === timeOfDayMs(end);
  return [
    ...(isEmpty ? [{ field: "quiet_hours.end", message: "must not be the time at which they start" }] : []),
    ...(timezone !== "user" && !isTimeZone(timezone)
      ? [{ field: "quiet_hours.timezone", message: `${timezone} is not an IANA time zone` }]
      : []),
  ];
};

/** What is beyond the plan of the app's tenant: asked of REST and of resources alike. */
export const beyondRetention = (
  { retention_days: days }: SettingValues,
  plan: { retention_days: number },
): FieldError[] =>
  (days ?? 0) <= plan.retention_days
    ? []
    : [
        {
          field: "retention_days",
          message: `must be at most ${plan.retention_days}, as the plan keeps messages for so long`,
        },
      ];

/** A resource may leave out what REST has to say. */
const frequencyCaps: Rule = ({ frequency_caps: caps }) =>
  (caps ?? []).flatMap(({ name, max, per }, i) => {
    const missing = Object.entries({ name, max, per }).find(([, value]) => value === undefined)?.[0];
    if (missing !== undefined) return [{ field: `frequency_caps[${i}].${missing}`, message: "is required" }];
    const isTwice = (caps ?? []).findIndex((other) => other.name === name) < i;
    return isTwice ? [{ field: `frequency_caps[${i}].name`, message: "is that of another cap" }] : [];
  });

const mostHoldoutMs = 180 * dayMs;

/** Somebody is not left out for ever, and not by mistake. */
const holdout: Rule = (given) => {
  const { percent, starts_at: starts, ends_at: ends } = settingsOf(given).holdout;
  if (percent === 0) return [];
  if (starts === null) return [{ field: "holdout.starts_at", message: "is required with a percent" }];
  if (ends === null) return [{ field: "holdout.ends_at", message: "is required with a percent" }];
  const forMs = new Date(ends).getTime() - new Date(starts).getTime();
  if (forMs <= 0) return [{ field: "holdout.ends_at", message: "must be behind starts_at" }];
  return forMs > mostHoldoutMs ? [{ field: "holdout.ends_at", message: "is more than 180 days behind starts_at" }] : [];
};

const languages: Rule = (given) => {
  const { languages: all, pages } = settingsOf(given);
  return [
    ...(isEachOnce(all) ? [] : [{ field: "languages", message: "must name each language once" }]),
    ...(isEachOnce(pages.languages ?? [])
      ? []
      : [{ field: "pages.languages", message: "must name each language once" }]),
  ];
};

const isEachOnce = (all: readonly string[]): boolean => new Set(all).size === all.length;

/** A resource may leave out what REST has to say. */
const pages: Rule = (given) => {
  const { logo_url: logo, categories } = settingsOf(given).pages;
  const url = logo === null ? null : URL.parse(logo);
  const isBad = logo !== null && (url === null || !isSecure(url) || url.username !== "");
  const names = categories.map(({ category, language }) => JSON.stringify([category, language ?? null]));
  return [
    ...(isBad ? [{ field: "pages.logo_url", message: "must be an https address without a user" }] : []),
    ...categories.flatMap((one, i) => {
      const missing = (["category", "name"] as const).find((member) => one[member] === undefined);
      if (missing !== undefined) return [{ field: `pages.categories[${i}].${missing}`, message: "is required" }];
      const isTwice = names.indexOf(names[i] ?? "") < i;
      return isTwice ? [{ field: `pages.categories[${i}].name`, message: "is another name for the same" }] : [];
    }),
    ...(new Set(categories.map(({ category }) => category)).size > mostPageCategories
      ? [{ field: "pages.categories", message: `must name at most ${mostPageCategories} categories` }]
      : []),
  ];
};

const identityKeys: Rule = ({ identity_keys: keys }) =>
  (keys ?? []).flatMap(({ kid, alg, public_key: text }, i) => {
    const at = `identity_keys[${i}]`;
    const missing = Object.entries({ kid, alg, public_key: text }).find(([, value]) => value === undefined)?.[0];
    if (missing !== undefined || alg === undefined || text === undefined)
      return [{ field: `${at}.${missing}`, message: "is required" }];
    const key = identityKey(text, alg);
    const isTwice = (keys ?? []).findIndex((other) => other.kid === kid) < i;
    return [
      ...(typeof key === "string" ? [{ field: `${at}.public_key`, message: key }] : []),
      ...(isTwice ? [{ field: `${at}.kid`, message: "is that of another key" }] : []),
    ];
  });

/** One for each setting that needs it. */
const rules: readonly Rule[] = [identityKeys, zone, quietHours, frequencyCaps, holdout, languages, pages];
