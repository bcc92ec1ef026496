/** Reads a reply whole. @throws RangeError as soon as it has more than `mostBytes` */
export const readBounded = async (reply: AsyncIterable<Uint8Array>, mostBytes: number): Promise<Buffer> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of reply) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new RangeError(`the reply has more than ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};
