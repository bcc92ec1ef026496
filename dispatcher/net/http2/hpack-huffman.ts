/**
 * Lengths of the Huffman codes of the 256 bytes in bits, in base 36. The code is canonical: these lengths, shortest
 * first and then by byte, give every code word. Source: RFC 7541 Appendix B.
 */
const codeLengths = [
  "dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6ca",
  "d67777777777777777777777878djde6f56565666577666567655677777fbeds",
  "kmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmolmnnllmlnmnnkmmmnmmn",
  "qqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrq",
].join("");
const endOfString = 256;

/** Node n of the code's tree has its children at 2n and 2n + 1: another node, or ~byte for a leaf. 0 is none. */
const tree = ((): Int16Array => {
  const lengths = [...Array.from({ length: 256 }, (_, byte) => Number.parseInt(codeLengths.charAt(byte), 36)), 30];
  const order = lengths
    .map((bits, symbol) => ({ bits, symbol }))
    .sort((a, b) => a.bits - b.bits || a.symbol - b.symbol);
  const nodes = new Int16Array(2 * 257);
  let nodeCount = 1;
  let code = 0;
  let width = 0;
  for (const { bits, symbol } of order) {
    code <<= bits - width;
    width = bits;
    let node = 0;
    for (let bit = bits - 1; bit > 0; bit--) {
      const child = 2 * node + ((code >> bit) & 1);
      if (nodes[child] === 0) nodes[child] = nodeCount++;
      node = nodes[child] ?? 0;
    }
    nodes[2 * node + (code & 1)] = ~symbol;
    code++;
  }
  return nodes;
})();

/** The text behind a Huffman-coded string; null when it is not one (RFC 7541 5.2: bad padding, end-of-string inside). */
export const huffmanDecode = (bytes: Uint8Array): string | null => {
  let text = "";
  let node = 0;
  let sinceSymbol = 0; // bits since the last whole symbol: at most 7, all ones, at the end
  let onlyOnes = true;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit--) {
      const value = (byte >> bit) & 1;
      const next = tree[2 * node + value] ?? 0;
      sinceSymbol++;
      onlyOnes &&= value === 1;
      if (next >= 0) {
        node = next;
        continue;
      }
      if (~next === endOfString) return null;
      text += String.fromCharCode(~next);
      node = 0;
      sinceSymbol = 0;
      onlyOnes = true;
    }
  }
  return sinceSymbol < 8 && onlyOnes ? text : null;
};
