/**
 * Messages that a text is sent in. A GSM-7 text fits into one of 160 characters, or into parts of 153; characters of the
 * extension table count as two and are never split. Any other text is UCS-2: one of 70, or parts of 67, and a pair of
 * surrogates is never split. The empty text is one.
 * Source: 3GPP TS 23.038 6.2.1 (alphabets), 3GPP TS 23.040 9.2.3.24.1 (concatenation, 8-bit reference).
 */
export const segmentsOf = (text: string): number => {
  const characters = Array.from(text);
  const isGsm = characters.every((character) => basic.has(character) || extension.has(character));
  const sizeOf = isGsm
    ? (character: string) => (extension.has(character) ? 2 : 1)
    : (character: string) => character.length;
  const { whole, part } = isGsm ? { whole: 160, part: 153 } : { whole: 70, part: 67 };
  const sizes = characters.map(sizeOf);
  return sizes.reduce((sum, size) => sum + size, 0) <= whole ? 1 : partsOf(sizes, part);
};

const partsOf = (sizes: readonly number[], most: number): number => {
  let [parts, used] = [1, 0];
  for (const size of sizes) {
    if (used + size > most) [parts, used] = [parts + 1, 0];
    used += size;
  }
  return parts;
};

const basic: ReadonlySet<string> = new Set(
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà",
);
const extension: ReadonlySet<string> = new Set("\f^{}\\[~]|€");
