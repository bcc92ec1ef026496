import { expect } from "chai";
import { headerDecoder } from "../../../../../dispatcher/net/http2/hpack.ts";
import { http2Pool } from "../../../../../dispatcher/net/http2/pool.ts";
import { readCorpus } from "../../../../fuzz/corpus.ts";
import { attack, type Target } from "../../../../fuzz/fuzz.ts";
import { anyBytes } from "../../../../fuzz/mutate.ts";
import { referenceDecoder } from "../../../../fuzz/reference-hpack.ts";
import { targets } from "../../../../fuzz/targets.ts";
import { settings, startPeer } from "../../../../support/http2/peer.ts";
import { staticTable } from "../../../../support/http2/static-table.ts";
import { until } from "../../../../support/until.ts";

// `make fuzz` attacks for minutes; here is what it found, and a moment of it.
describe("the decoders of the HTTP/2 client under attack", () => {
  for (const target of targets)
    it(`withstand what is kept for ${target.name}, and some thousand inputs made of it`, () => {
      const corpus = readCorpus(target.name);
      expect(corpus.length).to.be.above(50);
      const { failure } = attack(target, { runs: 2_000, seed: 7541, corpus, isQuick: true });
      expect(failure).to.equal(null);
    });

  it("settle every request, each once, when what is kept comes over the network, and leave no handle behind", async () => {
    const handles = () => process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP")).length;
    const inputs = readCorpus("frames");
    const before = handles();
    let answered = 0;
    const server = await startPeer(async (peer) => {
      peer.send(settings());
      await peer.requested(5); // the streams that the inputs are about
      peer.send(inputs[answered++] ?? Buffer.alloc(0));
      peer.socket.end();
    });
    const exchange = async (): Promise<string[]> => {
      const pool = http2Pool({ origin: server.origin, maxAttempts: 1 });
      const request = { path: "/", headers: {}, body: "x", timeoutMs: 10_000, signal: new AbortController().signal };
      const results = await Promise.all(Array.from({ length: 5 }, () => pool.request(request)));
      await pool.close();
      return results.map((result) => (result.kind === "answer" ? result.kind : result.reason));
    };
    const ends = new Set<string>();
    for (let n = 0; n < inputs.length; n += 20)
      for (const all of await Promise.all(Array.from({ length: 20 }, exchange))) for (const one of all) ends.add(one);
    await server.stop();
    expect([...ends]).to.include.members(["answer", "PROTOCOL_ERROR", "FRAME_SIZE_ERROR", "the connection was closed"]);
    expect([...ends].filter((end) => /no answer in time|INTERNAL_ERROR|undefined/.test(end))).to.deep.equal([]);
    await until(() => handles() <= before + 1);
  });

  /** Takes index 0 for a name like any other, as we once did. */
  const faulty: Target = {
    name: "faulty",
    mutate: anyBytes,
    seeds: [Buffer.of(0x88)],
    run: (input) => {
      const steps: string[] = [];
      const ours = headerDecoder()(Buffer.from(input.map((byte) => (byte === 0x80 ? 0x82 : byte))));
      try {
        referenceDecoder(staticTable, 4_096, steps)(input);
      } catch {
        if (ours !== null) throw new Error("only one refuses");
      }
      return steps;
    },
  };

  it("would show a fault, as small as it can be, and the same one for the same seed", () => {
    const once = () => attack(faulty, { runs: 50_000, seed: 1, corpus: [] }).failure;
    expect(once()?.input).to.deep.equal(Buffer.of(0x80));
    expect(once()).to.deep.equal(once());
  });
});
