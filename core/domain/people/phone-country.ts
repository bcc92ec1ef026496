import { getCountries, getCountryCallingCode, parsePhoneNumberFromString } from "libphonenumber-js/max";

/**
 * The country of a phone number as E.164, as ISO 3166-1 alpha-2; null when the numbering plan has none for it. Several
 * countries share a calling code, such as +1: the rest of the number tells them apart then.
 */
export const phoneCountry = (number: string): string | null => {
  const alone = onlyCountry(number);
  return alone ?? parsePhoneNumberFromString(number)?.country ?? null;
};

/** The one country that has the calling code of a number; to read the whole number takes a hundred times as long. */
const onlyCountry = (number: string): string | null => {
  for (let length = 1; length <= longestCode; length++) {
    const countries = byCallingCode.get(number.slice(1, 1 + length));
    if (countries !== undefined) return countries.length === 1 ? (countries[0] ?? null) : null; // no code begins another
  }
  return null;
};

const longestCode = 3; // ITU-T E.164

const byCallingCode: ReadonlyMap<string, readonly string[]> = Map.groupBy(getCountries(), (country) =>
  getCountryCallingCode(country),
);
