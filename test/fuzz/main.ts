import { parseArgs } from "node:util";
import { readCorpus, writeCorpus } from "./corpus.ts";
import { attack } from "./fuzz.ts";
import { targets } from "./targets.ts";

// make fuzz: attacks the decoders of the HTTP/2 client, each with `--runs` inputs made from `--seed`, which is printed, so
// that the same can be run again. `--keep` adds what reaches something new to the corpus, and leaves out what does not
// any more. An input that fails is printed; it becomes a line of the corpus by hand, with what mends it.

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "5000000" },
    seed: { type: "string", default: String(Date.now() % 2 ** 32) },
    keep: { type: "boolean", default: false },
  },
});
const [runs, seed] = [Number(values.runs), Number(values.seed)];
if (!Number.isSafeInteger(runs) || !Number.isSafeInteger(seed)) throw new Error("--runs and --seed are whole numbers");

Error.stackTraceLimit = 0; // a stack costs more than all the rest of an input that is refused

let failed = 0;
for (const target of targets) {
  const beganMs = performance.now();
  const { corpus, failure } = attack(target, { runs, seed, corpus: readCorpus(target.name) });
  const seconds = ((performance.now() - beganMs) / 1000).toFixed(0);
  console.log(
    `${target.name}: ${runs} inputs of seed ${seed} in ${seconds} s, ${corpus.length} of them for the corpus`,
  );
  if (failure !== null) {
    failed++;
    console.log(`failed: ${failure.input.toString("hex")}`, failure.error);
  } else if (values.keep) writeCorpus(target.name, corpus);
}
console.log(`${targets.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
