import { stackDir, testDir } from "./files/paths.ts";
import { stopStack } from "./servers/stack.ts";

// `make down`: ends what was started here, the demo's programs first. Data stays until `make clean`.
const ended = [...(await stopStack(stackDir)), ...(await stopStack(testDir))];
console.log(ended.length > 0 ? `Stopped: ${ended.join(", ")}` : "Nothing was running");
console.log("Data and servers stay in .dev; next: make demo or make up starts them again, make clean removes them");
