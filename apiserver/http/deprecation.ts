import { dayMs } from "#core/domain/durations.ts";

/** Says that an operation will be taken away. */
export type Deprecation = {
  since: Date;
  /** From then on it may be gone: a year after `since` at least. */
  sunset: Date;
  /** Address of a page that says what to use instead. */
  more: string;
};

const leastDays = 365;

/**
 * The headers of each reply of such an operation. Source: RFC 9745 (`Deprecation`, `rel="deprecation"`), RFC 8594 (`Sunset`).
 * @throws RangeError when callers get less than a year: docs/reference/requests.md#versions
 */
export const deprecationHeaders = ({ since, sunset, more }: Deprecation): Record<string, string> => {
  const days = (sunset.getTime() - since.getTime()) / dayMs;
  if (days < leastDays) throw new RangeError(`deprecated for ${days} days, instead of ${leastDays} at least`);
  return {
    Deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
    Sunset: sunset.toUTCString(),
    Link: `<${more}>; rel="deprecation"; type="text/html"`,
  };
};
