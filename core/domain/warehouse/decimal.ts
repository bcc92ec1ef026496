/** What of a decimal column stands behind the point, and all of its digits: as BigQuery's NUMERIC has at most. */
export const decimalScale = 9;
export const decimalPrecision = 38;

/**
 * A number as a decimal: its shortest text, which is what somebody wrote, times 10⁹, without a float in between. What has
 * more decimals is rounded, half away from zero; null when it has more digits than there is room for, or is no number.
 */
export const decimalOf = (value: number): bigint | null => {
  const found = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (found === null) return null;
  const [, sign, whole = "", fraction = "", exponent = "0"] = found;
  const shift = Number(exponent) + decimalScale - fraction.length;
  const digits = whole + fraction;
  if (digits.length + shift > decimalPrecision && !/^0*$/.test(digits)) return null;
  const scaled = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : rounded(digits, -shift);
  return sign === "-" ? -scaled : scaled;
};

/** Digits without the last so many. */
const rounded = (digits: string, left: number): bigint => {
  const padded = digits.padStart(left + 1, "0");
  const cut = padded.length - left;
  return BigInt(padded.slice(0, cut)) + ((padded[cut] ?? "0") >= "5" ? 1n : 0n);
};
